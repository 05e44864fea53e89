package machine

// Oldest is the log's time when the request came in that is at the head of its
// mailbox for longest, but for those that need not move; false if there is
// none.
func (s *State) Oldest(still func(*Entry) bool) (queued int64, some bool) {
	for _, m := range s.residents { // the least is the same in any order
		if m.size == 0 {
			continue
		}
		if q := m.oldest.Queued; (!some || q < queued) && !still(m.oldest) {
			queued, some = q, true
		}
	}
	return queued, some
}
