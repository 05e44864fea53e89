// Package cron computes when a line of five fields is due, in a time zone.
//
//	minute        0-59
//	hour          0-23
//	day of month  1-31
//	month         1-12 or jan-dec
//	day of week   0-7 or sun-sat; 0 and 7 are Sunday
//
// A field is a list, by commas, of *, a value, or a range a-b, the last two or
// more also with a step: */15, 8-18/2. If both days are restricted (neither
// begins with *), one that fits is enough; that is how cron has always read
// them.
//
// # When clocks are changed
//
// A line whose hour begins with * is about elapsed time: it is due in every
// hour that passes, also in one that the clock shows twice. Any other is about
// what the clock shows: a time that is shown twice is due the first time only,
// and one that is skipped is due at the moment when the clock jumps over it,
// once whatever the line has in the gap.
package cron
