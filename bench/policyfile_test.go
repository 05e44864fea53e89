package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

// BenchmarkPolicyFile times how the target of a request is found among 1,000.
func BenchmarkPolicyFile(b *testing.B) {
	var file strings.Builder
	file.WriteString("version: 1\ntargets:\n")
	for i := range 1000 {
		fmt.Fprintf(&file, "  t%d: { match: { host: host%d.internal } }\n", i, i)
	}
	policies, err := policyfile.Parse("policies.yaml", []byte(file.String()))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("lookup/backstay", func(b *testing.B) {
		q := policyfile.Request{Host: "host500.internal", Method: "GET"}
		if t := policies.Match(q); t == nil || t.Name != "t500" {
			b.Fatalf("found %v", t)
		}
		b.ReportAllocs()
		for b.Loop() {
			policies.Match(q)
		}
	})
}
