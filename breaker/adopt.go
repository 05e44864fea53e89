package breaker

// Adopt puts the configuration of model in force, from the next call on, and
// keeps the state: what the window holds, an opening and its length, the probes
// that are under way. That takes windows that are alike: it changes nothing and
// reports false where the size of the window, its stretch of time or its steps
// differ, or where one of the two has a slow rule alone, and where b or model
// is nil.
func (b *Breaker) Adopt(model *Breaker) bool {
	if b == nil || model == nil {
		return false
	}
	next := model.settings.Load()
	if !b.settings.Load().alike(next) {
		return false
	}
	b.settings.Store(next)
	return true
}
