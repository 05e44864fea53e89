package client_test

import (
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

func safe() *sarama.Config {
	c := sarama.NewConfig()
	c.Producer.RequiredAcks = sarama.WaitForAll
	return c
}

func TestTheDefaultIsGoodEnough(t *testing.T) {
	c, err := client.Harden(nil)
	if err != nil || c.Version != sarama.V4_0_0_0 || c.ClientID != "backstay" || c.Metadata.AllowAutoTopicCreation {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWhatIsNotSafeIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(c *sarama.Config){
		"required_acks":  func(c *sarama.Config) { c.Producer.RequiredAcks = sarama.WaitForLocal },
		"version":        func(c *sarama.Config) { c.Version = sarama.V1_0_0_0 },
		"transaction.id": func(c *sarama.Config) { c.Producer.Transaction.ID = "x" },
		"SASL":           func(c *sarama.Config) { c.Net.SASL.Enable = true },
	} {
		c := safe()
		spoil(c)
		if _, err := client.Harden(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheUsersConfigurationStaysAsItIs(t *testing.T) {
	c := safe()
	c.Version, c.ClientID = sarama.V3_0_0_0, "mine"
	c.Net.SASL.User = "me"
	h, err := client.Harden(c)
	if err != nil {
		t.Fatal(err)
	}
	p := client.Producer(h)
	if c.Producer.Idempotent || h.Producer.Idempotent || c.Net.DialTimeout != 30*time.Second {
		t.Error("it was changed")
	}
	if p.Version != sarama.V3_0_0_0 || p.ClientID != "mine" || p.Net.SASL.User != "me" {
		t.Errorf("not kept: %+v", p)
	}
}

func TestEveryRoleIsAConfigurationThatSaramaTakes(t *testing.T) {
	h, err := client.Harden(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, role := range map[string]func(*sarama.Config) *sarama.Config{
		"appender": client.Appender, "producer": client.Producer, "consumer": client.Consumer, "group": client.Group, "admin": client.Admin,
		"transactional": func(c *sarama.Config) *sarama.Config { return client.Transactional(c, "id") },
	} {
		if err := role(h).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := client.Appender(h); a.Producer.Timeout > a.Net.ReadTimeout/2 || a.Net.WriteTimeout > client.Outlast/2 {
		t.Error("one request takes all the time that there is")
	}
	if p := client.Producer(h).Producer; time.Duration(p.Retry.Max)*p.Retry.Backoff < 15*time.Second {
		t.Error("a producer gives up before an election has ended")
	}
}
