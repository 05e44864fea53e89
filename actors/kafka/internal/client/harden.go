package client

import (
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
)

// The versions of the protocol.
var (
	// lowest is the first in which a static member can be removed from a group.
	lowest = sarama.V2_4_0_0
	// usual is what is spoken where nobody has chosen; brokers that are older
	// are spoken to in what they know.
	usual = sarama.V4_0_0_0
)

// Harden returns a copy of c with what all roles have in common; nil is the
// default. TLS, SASL, the dialer, the client's name, compression and the version
// are the user's. Its errors are [backstay.FieldError]s, all at once.
func Harden(c *sarama.Config) (*sarama.Config, error) {
	if c == nil {
		c = sarama.NewConfig()
		c.Producer.RequiredAcks = sarama.WaitForAll
	}
	h := *c
	if h.Version == sarama.DefaultVersion {
		h.Version = usual
	}
	err := backstay.Check(
		backstay.Setting{
			Path: "producer.required_acks", Value: h.Producer.RequiredAcks, Valid: h.Producer.RequiredAcks == sarama.WaitForAll,
			Allowed: "must be sarama.WaitForAll: an acknowledged record that can be lost breaks what actors promise",
		},
		backstay.Setting{
			Path: "version", Value: h.Version, Valid: h.Version.IsAtLeast(lowest),
			Allowed: "must be at least " + lowest.String(),
		},
		backstay.Setting{
			Path: "producer.transaction.id", Value: h.Producer.Transaction.ID, Valid: h.Producer.Transaction.ID == "",
			Allowed: "must be empty: readers would wait for transactions that are open",
		},
	)
	if err != nil {
		return nil, err
	}
	if h.ClientID == "" || h.ClientID == sarama.NewConfig().ClientID {
		h.ClientID = "backstay"
	}
	h.ApiVersionsRequest = true
	h.Metadata.AllowAutoTopicCreation = false
	h.Metadata.Full = false
	h.Metadata.SingleFlight = true
	h.Net.DialTimeout = min(h.Net.DialTimeout, 5*time.Second)
	return &h, h.Validate()
}
