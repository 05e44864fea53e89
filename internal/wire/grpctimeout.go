package wire

import (
	"strconv"
	"time"
)

// grpcUnits are the units of grpc-timeout, smallest first.
var grpcUnits = [...]struct {
	letter byte
	length time.Duration
}{
	{'n', time.Nanosecond},
	{'u', time.Microsecond},
	{'m', time.Millisecond},
	{'S', time.Second},
	{'M', time.Minute},
	{'H', time.Hour},
}

// maxGRPCDigits is what eight digits hold.
const maxGRPCDigits = 99_999_999

// FormatGRPCTimeout tells what is left of a deadline in the smallest unit in
// which it fits into eight digits, rounded up; "0n" where it has passed.
func FormatGRPCTimeout(left time.Duration) string {
	if left <= 0 {
		return "0n"
	}
	for _, unit := range grpcUnits {
		n := int64(left / unit.length)
		if left%unit.length != 0 {
			n++
		}
		if n <= maxGRPCDigits {
			var b [9]byte
			return string(append(strconv.AppendInt(b[:0], n, 10), unit.letter))
		}
	}
	return "99999999H" // not reached: the longest Duration is 2,562,047 hours
}

// ParseGRPCTimeout reads one to eight digits and a unit.
func ParseGRPCTimeout(v string) (time.Duration, error) {
	if last := len(v) - 1; last >= 1 && last <= 8 {
		n, ok := number(v[:last])
		for _, unit := range grpcUnits {
			if ok && unit.letter == v[last] {
				return times(n, unit.length), nil
			}
		}
	}
	return 0, malformed(v, "1 to 8 digits and one of H, M, S, m, u, n")
}
