package runtime

// report tells the observer, of what goes on failing now and then, and returns when
// it has been told. That is done on a goroutine of its own, which is all that an
// observer can bring down: who reports may have a partition's baton, and may be a
// client's goroutine or a method's. A panic is nobody's business, nor is
// runtime.Goexit, as a failed assertion calls it.
func (n *Node) report(e Event) {
	if n.config.Observe == nil || n.told.known(&e) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		n.config.Observe(e)
	}()
	<-done
}
