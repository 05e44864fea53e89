package kafka_test

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/kafka"
)

const token = "a secret of sixteen bytes"

func TestWhatDirectAnswersNeedIsLookedAt(t *testing.T) {
	certified := &tls.Config{Certificates: make([]tls.Certificate, 1)}
	for name, c := range map[string]struct {
		direct kafka.Direct
		faults []string
	}{
		"a client needs a token only":              {kafka.Direct{Token: token}, nil},
		"an owner listens at a host":               {kafka.Direct{Token: token, Listen: "10.0.0.1:7000"}, nil},
		"or tells which":                           {kafka.Direct{Token: token, Listen: ":7000", Advertise: "node-1:7000"}, nil},
		"and may have TLS":                         {kafka.Direct{Token: token, Listen: "10.0.0.1:0", TLS: certified}, nil},
		"a client's TLS needs no certificate":      {kafka.Direct{Token: token, TLS: new(tls.Config)}, nil},
		"a token must be there":                    {kafka.Direct{}, []string{"token"}},
		"and long":                                 {kafka.Direct{Token: "fifteen bytes.."}, []string{"token"}},
		"nobody reaches all addresses":             {kafka.Direct{Token: token, Listen: ":7000"}, []string{"advertise"}},
		"however they are written":                 {kafka.Direct{Token: token, Listen: "[::]:7000"}, []string{"advertise"}},
		"nor an address without a host":            {kafka.Direct{Token: token, Listen: ":1", Advertise: ":1"}, []string{"advertise"}},
		"nor one that nobody listens at":           {kafka.Direct{Token: token, Advertise: "node-1:7000"}, []string{"advertise"}},
		"a port must be one":                       {kafka.Direct{Token: token, Listen: "host:70000"}, []string{"listen", "advertise"}},
		"an owner's TLS needs a certificate":       {kafka.Direct{Token: token, Listen: "h:1", TLS: new(tls.Config)}, []string{"tls"}},
		"less than no connections are not allowed": {kafka.Direct{Token: token, Connections: -1}, []string{"connections"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := kafka.Config{App: "bank", Brokers: []string{"localhost:9092"}, Direct: &c.direct}.Validate()
			var paths []string
			if err != nil {
				for line := range strings.Lines(err.Error()) {
					path, _, _ := strings.Cut(line, ": ")
					paths = append(paths, strings.TrimPrefix(path, "direct."))
				}
			}
			slices.Sort(paths)
			slices.Sort(c.faults)
			if !slices.Equal(paths, c.faults) {
				t.Errorf("faults in %q, want %q: %v", paths, c.faults, err)
			}
		})
	}
}

func TestAFaultDoesNotTellTheToken(t *testing.T) {
	err := kafka.Config{App: "bank", Brokers: []string{"localhost:9092"}, Direct: &kafka.Direct{Token: "short"}}.Validate()
	if err == nil || strings.Contains(err.Error(), "short") {
		t.Error(err)
	}
}
