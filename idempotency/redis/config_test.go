package redis_test

import (
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/idempotency/redis"
)

func TestAllFaultsOfAConfigurationAreToldAtOnce(t *testing.T) {
	_, err := redis.New(redis.Config{
		Prefix: "{payments}:", Timeout: time.Millisecond, MaxAnswer: -1, WhenDown: "ignore",
	}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, path := range []string{"prefix", "timeout", "max_answer", "when_down", "client"} {
		if !strings.Contains(err.Error(), "idempotency.redis."+path+": ") {
			t.Errorf("%s is missing in: %v", path, err)
		}
	}
}

func TestWhatAConfigurationAllows(t *testing.T) {
	for name, c := range map[string]struct {
		config redis.Config
		valid  bool
	}{
		"the zero value":            {redis.Config{}, true},
		"everything":                {redis.Config{Prefix: "payments:idem:", Timeout: 50 * time.Millisecond, MaxAnswer: 1, WhenDown: redis.LetThrough}, true},
		"the default by name":       {redis.Config{WhenDown: redis.Refuse}, true},
		"the longest prefix":        {redis.Config{Prefix: strings.Repeat("p", 64)}, true},
		"a longer prefix":           {redis.Config{Prefix: strings.Repeat("p", 65)}, false},
		"a prefix with a space":     {redis.Config{Prefix: "a b"}, false},
		"a prefix with a brace":     {redis.Config{Prefix: "a}"}, false},
		"a prefix beyond ASCII":     {redis.Config{Prefix: "ä"}, false},
		"a negative timeout":        {redis.Config{Timeout: -1}, false},
		"a timeout of hours":        {redis.Config{Timeout: time.Hour}, false},
		"more than Redis can store": {redis.Config{MaxAnswer: 1 << 29}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.config.Validate(); (err == nil) != c.valid {
				t.Errorf("got %v, want valid: %t", err, c.valid)
			}
		})
	}
}

// wrapped is a client of a type that New does not know.
type wrapped struct{ goredis.Scripter }

func TestAClientMustHeedDeadlines(t *testing.T) {
	client := goredis.NewClient(&goredis.Options{})
	cluster := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	ring := goredis.NewRing(&goredis.RingOptions{})
	deaf := map[string]goredis.UniversalClient{"single": client, "cluster": cluster, "ring": ring}
	for name, c := range deaf {
		t.Cleanup(func() { _ = c.Close() })
		if _, err := redis.New(redis.Config{}, c); err == nil || !strings.Contains(err.Error(), "ContextTimeoutEnabled") {
			t.Errorf("%s: %v, want to be told of ContextTimeoutEnabled", name, err)
		}
	}
	client.Options().ContextTimeoutEnabled = true
	cluster.Options().ContextTimeoutEnabled = true
	ring.Options().ContextTimeoutEnabled = true
	for name, c := range deaf {
		if _, err := redis.New(redis.Config{}, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := redis.New(redis.Config{}, wrapped{}); err != nil {
		t.Errorf("a client of another type: %v", err)
	}
}

var _ redis.Client = goredis.UniversalClient(nil)

func TestAClientThatIsNilIsMissing(t *testing.T) {
	for name, client := range map[string]redis.Client{
		"none": nil, "a client": (*goredis.Client)(nil), "a cluster": (*goredis.ClusterClient)(nil), "a ring": (*goredis.Ring)(nil),
	} {
		if _, err := redis.New(redis.Config{}, client); err == nil || !strings.Contains(err.Error(), "must be given") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
