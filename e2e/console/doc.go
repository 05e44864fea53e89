// Package console tests the console's page in a real browser, against a real
// server. It holds tests only; they need chromium, and say so where it is
// missing.
package console
