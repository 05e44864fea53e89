package wire

import "time"

// RateLimit is what is left of one quota.
type RateLimit struct {
	// Name is that of the quota's policy.
	Name string
	// Remaining is what is left, in the server's units.
	Remaining int64
	// Reset is the time until more is there; 0 if the server does not say.
	Reset time.Duration
}

// RateLimitPolicy is one quota.
type RateLimitPolicy struct {
	// Name is what RateLimit calls it.
	Name string
	// Quota is what may be used in a Window, in the server's units.
	Quota int64
	// Window is the time for it; 0 if the server does not say.
	Window time.Duration
}

// RateLimits reads the fields of RateLimit, for example "default";r=50;t=30.
// It returns nil if they are malformed, as the draft asks.
func RateLimits(values []string) []RateLimit {
	return quotas(values, "r", "t", func(name string, n int64, d time.Duration) RateLimit {
		return RateLimit{Name: name, Remaining: n, Reset: d}
	})
}

// RateLimitPolicies reads the fields of RateLimit-Policy, for example
// "burst";q=100;w=60. It returns nil if they are malformed.
func RateLimitPolicies(values []string) []RateLimitPolicy {
	return quotas(values, "q", "w", func(name string, n int64, d time.Duration) RateLimitPolicy {
		return RateLimitPolicy{Name: name, Quota: n, Window: d}
	})
}

// quotas reads a list whose members have a required amount and an optional
// number of seconds, neither of them negative.
func quotas[T any](values []string, amount, seconds string, of func(string, int64, time.Duration) T) []T {
	members, ok := parseList(values)
	if !ok {
		return nil
	}
	all := make([]T, 0, len(members))
	for _, m := range members {
		n, ok := m.param(amount)
		if !ok || !n.isInteger || n.integer < 0 {
			return nil
		}
		s, ok := m.param(seconds)
		if ok && !s.isInteger || s.integer < 0 {
			return nil
		}
		all = append(all, of(m.name, n.integer, times(uint64(s.integer), time.Second)))
	}
	return all
}
