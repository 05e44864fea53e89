package bench

import "time"

// What every library is set to, where it knows the setting. The timeouts are
// far beyond the minute that "within" gives a caller, and beyond any run.
const (
	attempts       = 3
	limit          = 64
	attemptTimeout = 5 * time.Minute
	totalTimeout   = 15 * time.Minute
	openFor        = time.Hour
)
