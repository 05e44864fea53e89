package kafka

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrTopics matches the errors of topics that are missing or not as they must
// be.
var ErrTopics = errors.New("kafka: topics are not as they must be")

// MismatchError is one thing about a topic that is not as it must be.
type MismatchError struct {
	Topic string
	// Setting is its name in Kafka, or "partitions".
	Setting string
	Have    string
	Want    string
	// Why it must be so, and how to mend it.
	Why, Mend string
}

// Error says all of it.
func (m *MismatchError) Error() string {
	return fmt.Sprintf("topic %s: %s is %s, must be %s (%s); %s", m.Topic, m.Setting, m.Have, m.Want, m.Why, m.Mend)
}

// Is reports whether target is [ErrTopics].
func (m *MismatchError) Is(target error) bool { return target == ErrTopics }

// found is what a topic is like.
type found struct {
	partitions uint32
	settings   map[string]string
}

// compare returns everything that is wrong with a topic, joined. have is nil if
// there is none.
func (t *topic) compare(have *found) error {
	if have == nil {
		return &MismatchError{Topic: t.name, Setting: "the topic", Have: "missing", Want: "there", Why: "nothing makes it by itself", Mend: "run kafka.Setup with the types of the application"}
	}
	var all []error
	if t.partitions != 0 && have.partitions != t.partitions {
		all = append(all, &MismatchError{
			Topic: t.name, Setting: "partitions", Have: utoa(have.partitions), Want: utoa(t.partitions),
			Why:  "it decides where actors live, and is fixed for ever",
			Mend: "configure the number that the topic was made with; if partitions were added, the topic must be made anew",
		})
	}
	for _, s := range t.settings {
		if is := have.settings[s.name]; !s.fits(is) {
			all = append(all, &MismatchError{
				Topic: t.name, Setting: s.name, Have: strconv.Quote(is), Want: s.must(), Why: s.why,
				Mend: fmt.Sprintf("kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config %s=%s", t.name, s.name, s.value),
			})
		}
	}
	return errors.Join(all...)
}

func (s setting) must() string {
	if s.least {
		return s.value + " or more"
	}
	return strconv.Quote(s.value)
}

func (s setting) fits(is string) bool {
	if !s.least {
		return is == s.value
	}
	have, err := strconv.ParseInt(is, 10, 64)
	want, _ := strconv.ParseInt(s.value, 10, 64) // ours
	return err == nil && have >= want
}

func utoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
