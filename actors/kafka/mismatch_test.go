package kafka

import (
	"strings"
	"testing"
)

// Members, answers and dead letters are no types.
func TestAMissingTopicIsMendedBySetupWhateverItIs(t *testing.T) {
	for _, topic := range (&Config{App: "bank"}).shared() {
		if err := topic.compare(nil); err == nil || !strings.Contains(err.Error(), topic.name+": the topic is missing") || strings.Contains(err.Error(), "this type") {
			t.Errorf("%s: %v", topic.name, err)
		}
	}
}
