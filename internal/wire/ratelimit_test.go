package wire_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestRateLimits(t *testing.T) {
	def := wire.RateLimit{Name: "default", Remaining: 50, Reset: 30 * time.Second}
	for _, c := range []struct {
		name   string
		fields []string
		want   []wire.RateLimit
	}{
		{"one quota", []string{`"default";r=50;t=30`}, []wire.RateLimit{def}},
		{"parameters in another order", []string{`"default";t=30;r=50`}, []wire.RateLimit{def}},
		{"spaces where they may be", []string{`  "default"; r=50; t=30  `}, []wire.RateLimit{def}},
		{"a reset is optional", []string{`"default";r=50`}, []wire.RateLimit{{Name: "default", Remaining: 50}}},
		{"two quotas in one field", []string{`"default";r=50;t=30, "day";r=0;t=86400`},
			[]wire.RateLimit{def, {Name: "day", Reset: 24 * time.Hour}}},
		{"two quotas in two fields", []string{`"default";r=50;t=30`, `"day";r=0;t=86400`},
			[]wire.RateLimit{def, {Name: "day", Reset: 24 * time.Hour}}},
		{"an escaped name", []string{`"a\"b\\c";r=1`}, []wire.RateLimit{{Name: `a"b\c`, Remaining: 1}}},
		{"the last of two parameters counts", []string{`"x";r=1;r=2`}, []wire.RateLimit{{Name: "x", Remaining: 2}}},
		{"other parameters of all types are passed over",
			[]string{`"default";pk=:Zm9v:;n=-1;d=1.5;s="a\"";k=tok/en;b=?1;at=@1700000000;u=%"f%c3";flag;r=50;*x=*;t=30`},
			[]wire.RateLimit{def}},
		{"15 digits of seconds saturate", []string{`"x";r=0;t=999999999999999`}, []wire.RateLimit{{Name: "x", Reset: forever}}},
		{"no field", nil, []wire.RateLimit{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := wire.RateLimits(c.fields); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q: got %+v, want %+v", c.fields, got, c.want)
			}
		})
	}
}

func TestAMalformedRateLimitIsIgnored(t *testing.T) {
	for name, v := range map[string]string{
		"no amount":                  `"default";t=30`,
		"an amount of another type":  `"default";r=50.5;t=30`,
		"an amount as a string":      `"default";r="50";t=30`,
		"an amount without a value":  `"default";r;t=30`,
		"a negative amount":          `"default";r=-1;t=30`,
		"a negative time":            `"default";r=1;t=-30`,
		"a time as a decimal":        `"default";r=1;t=30.0`,
		"a time without a value":     `"default";r=1;t`,
		"16 digits":                  `"default";r=1234567890123456`,
		"a name without quotes":      `default;r=50;t=30`,
		"a name that does not end":   `"default;r=50`,
		"a bad escape":               `"a\b";r=1`,
		"an escape at the end":       `"a\`,
		"a control character":        "\"a\x00\";r=1",
		"a name that is not ASCII":   `"ä";r=1`,
		"a comma at the end":         `"default";r=50,`,
		"a comma at the beginning":   `,"default";r=50`,
		"two commas":                 `"a";r=50,,"b";r=1`,
		"no comma":                   `"a";r=50 "b";r=1`,
		"a key in capitals":          `"a";R=50`,
		"a key that begins badly":    `"a";1r=50`,
		"an empty key":               `"a";=50`,
		"an empty value":             `"a";r=`,
		"a sign alone":               `"a";r=-`,
		"a decimal without an end":   `"a";r=1;x=1.`,
		"a decimal of four places":   `"a";r=1;x=1.2345`,
		"a decimal of 13 digits":     `"a";r=1;x=1234567890123.1`,
		"a boolean of 2":             `"a";r=1;x=?2`,
		"a date that is a decimal":   `"a";r=1;x=@1.5`,
		"bytes that do not end":      `"a";r=1;x=:Zm9v`,
		"bytes that are not base 64": `"a";r=1;x=:Zm_v:`,
		"an inner list":              `("a";r=1)`,
		"the older form":             `limit=100, remaining=50, reset=30`,
		"junk":                       `!`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := wire.RateLimits([]string{v}); got != nil {
				t.Errorf("%q: got %+v", v, got)
			}
			if got := wire.RateLimits([]string{`"good";r=1`, v}); got != nil {
				t.Errorf("%q beside a good field: got %+v", v, got)
			}
		})
	}
}

func TestRateLimitPolicies(t *testing.T) {
	got := wire.RateLimitPolicies([]string{`"burst";q=100;w=60,"daily";q=1000;w=86400`, `"ever";q=7;qu="content-bytes"`})
	want := []wire.RateLimitPolicy{
		{Name: "burst", Quota: 100, Window: time.Minute},
		{Name: "daily", Quota: 1000, Window: 24 * time.Hour},
		{Name: "ever", Quota: 7},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := wire.RateLimitPolicies([]string{`"burst";w=60`}); got != nil {
		t.Errorf("got %+v without a quota", got)
	}
}

func FuzzRateLimits(f *testing.F) {
	for _, v := range []string{
		`"default";r=50;t=30`, `"a";r=0;t=3, "b";r=1`, `"a\"b\\c";r=1;pk=:Zm9v:;d=1.5;k=tok;b=?1;at=@1;u=%"f%c3"`, `"a`, `,`, `"";r=`,
	} {
		f.Add(v, "")
		f.Add(v, `"x";r=0;t=999999999999999`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		both := wire.RateLimits([]string{a, b})
		for _, l := range both {
			if l.Remaining < 0 || l.Reset < 0 {
				t.Fatalf("negative: %+v", l)
			}
			if strings.IndexFunc(l.Name, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
				t.Fatalf("%q is not printable", l.Name)
			}
		}
		if again := wire.RateLimits([]string{told(both)}); both != nil && !reflect.DeepEqual(again, both) {
			t.Fatalf("%+v came back as %+v", both, again)
		}
		wire.RateLimitPolicies([]string{a, b})
	})
}

// told writes limits as a server would.
func told(limits []wire.RateLimit) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var members []string
	for _, l := range limits {
		seconds := int64(l.Reset / time.Second)
		if l.Reset == forever {
			seconds = 999_999_999_999_999
		}
		members = append(members, `"`+escaped.Replace(l.Name)+fmt.Sprintf(`";r=%d;t=%d`, l.Remaining, seconds))
	}
	return strings.Join(members, ", ")
}
