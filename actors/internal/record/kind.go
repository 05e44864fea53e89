package record

// Kind tells records apart. Numbers are never used again.
type Kind uint8

// The kinds of the protocol.
const (
	KindClientRequest Kind = iota + 1
	KindRead
	KindRequest
	KindResponse
	KindEmpty
	KindCancel
	KindTakeover
	KindIssued
	KindWrite
	KindBegun
	KindFailed
	KindStep
	KindExpired
	KindForwarded
	KindUndeliverable
	KindFire
	KindIngest
	KindLetter
)

var kindNames = [...]string{
	KindClientRequest: "client request",
	KindRead:          "read",
	KindRequest:       "request",
	KindResponse:      "response",
	KindEmpty:         "empty",
	KindCancel:        "cancel",
	KindTakeover:      "takeover",
	KindIssued:        "issued",
	KindWrite:         "write",
	KindBegun:         "begun",
	KindFailed:        "failed",
	KindStep:          "step",
	KindExpired:       "expired",
	KindForwarded:     "forwarded",
	KindUndeliverable: "undeliverable",
	KindFire:          "fire",
	KindIngest:        "ingest",
	KindLetter:        "letter",
}

// String returns, for example, "takeover".
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// newRecord makes an empty record of a kind, nil if it is unknown.
func newRecord(k Kind) Record {
	switch k {
	case KindClientRequest:
		return new(ClientRequest)
	case KindRead:
		return new(Read)
	case KindRequest, KindResponse, KindEmpty, KindLetter:
		return &Mail{Message: newMessage(k)}
	case KindCancel:
		return new(Cancel)
	case KindTakeover:
		return new(Takeover)
	case KindIssued:
		return new(Issued)
	case KindWrite:
		return new(Write)
	case KindBegun:
		return new(Begun)
	case KindFailed:
		return new(Failed)
	default:
		return newOutcome(k)
	}
}

func newOutcome(k Kind) Record {
	switch k {
	case KindStep:
		return new(Step)
	case KindExpired:
		return new(Expired)
	case KindForwarded:
		return new(Forwarded)
	case KindUndeliverable:
		return new(Undeliverable)
	case KindFire:
		return new(Fire)
	case KindIngest:
		return new(Ingest)
	default:
		return nil
	}
}

// Outcome is how a step ends.
type Outcome uint8

// The outcomes of a Step.
const (
	// End is the method's result, a value or its error.
	End Outcome = iota
	// TailSelf goes on with another method on the same actor, which it keeps.
	TailSelf
	// TailOther goes on elsewhere, or on the same actor behind its queue.
	TailOther
	// DeadlinePassed, Cancelled and Refused (mailbox full) end what has not begun.
	DeadlinePassed
	Cancelled
	Refused
	// Poison ends what has failed too often.
	Poison
	outcomes
)

var outcomeNames = [...]string{
	End: "end", TailSelf: "tail self", TailOther: "tail other",
	DeadlinePassed: "expired", Cancelled: "cancelled", Refused: "refused", Poison: "poison",
}

// String returns, for example, "tail self".
func (o Outcome) String() string {
	if o < outcomes {
		return outcomeNames[o]
	}
	return "unknown"
}

// Unbegun reports whether the outcome is for what has not begun.
func (o Outcome) Unbegun() bool { return o == DeadlinePassed || o == Cancelled || o == Refused }
