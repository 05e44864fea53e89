package otelmw

import (
	"slices"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/backstay-go/backstay"
)

// cast are the policies that the Observer has heard of, and what is ready for
// each of their keys and operations. To build the attributes of a measurement
// costs more than to record it, so each set is built once.
type cast struct {
	policies table[string, *member]
	maxNames int
}

// member is one policy.
type member struct {
	keys, operations roster
	all              table[instance, *series]
}

// instance tells the series of one policy apart.
type instance struct{ key, operation string }

// of returns the series for what e happened to.
func (c *cast) of(policy, key, operation string) *series {
	m, ok := c.policies.get(policy)
	if !ok {
		m, _ = c.policies.add(policy, 0, func() *member {
			return &member{keys: roster{limit: c.maxNames}, operations: roster{limit: c.maxNames}}
		})
	}
	if s, ok := m.all.get(instance{key, operation}); ok {
		return s
	}
	i := instance{m.keys.name(key), m.operations.name(operation)}
	s, ok := m.all.get(i)
	if !ok {
		s, _ = m.all.add(i, 0, func() *series { return newSeries(valid(policy), i) })
	}
	return s
}

// classes is how many classes of outcomes there are, and one more for those
// that nobody has heard of.
const classes = int(backstay.Rejected) + 2

// index is where something for c is kept.
func index(c backstay.Class) int { return min(int(c), classes-1) }

// series is what is ready for one policy, key and operation.
type series struct {
	instance

	base          []attribute.KeyValue // policy, key and operation, as far as there are
	plain         *labels              // base alone
	calls         [classes]slot        // base and how a call ended
	attempts      [classes]slot        // base and how an attempt ended
	more          table[details, *labels]
	call, attempt opening
}

// opening is what a span begins with.
type opening struct {
	name    string
	options []trace.SpanStartOption
}

func newSeries(policy string, i instance) *series {
	s := &series{instance: i, base: base(policy, i.key, i.operation)}
	s.plain = newLabels(s.base)
	s.call = newOpening("call", policy, trace.SpanKindInternal, s.base)
	first := append(slices.Clone(s.base), keyAttempt.Int(1))
	s.attempt = newOpening("attempt", policy, trace.SpanKindClient, first)
	return s
}

// base are the attributes that everything has.
func base(policy, key, operation string) []attribute.KeyValue {
	d := details{{keyPolicy, policy}, {keyKey, key}, {keyOperation, operation}}
	return slices.Clip(d.onto(nil)) // so that whoever appends gets a copy
}

func newOpening(what, policy string, kind trace.SpanKind, attrs []attribute.KeyValue) opening {
	return opening{
		name:    strings.TrimSpace(what + " " + policy),
		options: []trace.SpanStartOption{trace.WithSpanKind(kind), trace.WithAttributes(attrs...)},
	}
}

// labels are the attributes of a measurement in the two shapes that
// instruments take, slices included: those would be allocated in every call.
type labels struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newLabels(attrs []attribute.KeyValue) *labels {
	set := metric.WithAttributeSet(attribute.NewSet(slices.Clone(attrs)...)) // a set sorts what it is made of
	return &labels{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
}

// slot holds labels once they were needed.
type slot struct{ atomic.Pointer[labels] }

// called returns the labels of a call, and tried those of an attempt, that
// ended in c.
func (s *series) called(c backstay.Class) *labels { return s.ended(&s.calls, keyOutcome, c) }
func (s *series) tried(c backstay.Class) *labels {
	return s.ended(&s.attempts, keyAttemptOutcome, c)
}

func (s *series) ended(by *[classes]slot, name attribute.Key, c backstay.Class) *labels {
	at := &by[index(c)]
	l := at.Load()
	if l == nil {
		l = newLabels(details{{name, c.String()}}.onto(s.base))
		at.Store(l)
	}
	return l
}

// details are the attributes of one measurement beside the base; those without
// a value are left out.
type details [3]detail

type detail struct {
	name  attribute.Key
	value string
}

// onto appends d to attrs.
func (d details) onto(attrs []attribute.KeyValue) []attribute.KeyValue {
	for _, one := range d {
		if one.value != "" {
			attrs = append(attrs, one.name.String(valid(one.value)))
		}
	}
	return attrs
}

// with returns the labels of d.
func (s *series) with(d details) *labels {
	if l, ok := s.more.get(d); ok {
		return l
	}
	l, _ := s.more.add(d, 0, func() *labels { return newLabels(d.onto(s.base)) })
	return l
}
