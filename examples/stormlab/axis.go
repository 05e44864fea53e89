package main

import (
	"math"
	"strconv"
)

// axis maps values to a stretch of the drawing.
type axis struct {
	label     string
	low, high float64 // of the values
	log       bool
	unit      string // written behind each number
}

// at returns where v is: 0 at the low end, 1 at the high one.
func (a axis) at(v float64) float64 {
	if a.log {
		return math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// ticks returns the values that are marked: round ones, about five.
func (a axis) ticks() []float64 {
	var all []float64
	if a.log {
		for v := a.low; v <= a.high; v *= 10 {
			for _, f := range []float64{1, 3} {
				if v*f <= a.high {
					all = append(all, v*f)
				}
			}
		}
		return all
	}
	step := a.step()
	for i := math.Ceil(a.low / step); i*step <= a.high; i++ {
		all = append(all, i*step)
	}
	return all
}

// step is the distance between marks: 1, 2, 2.5 or 5 times a power of ten.
func (a axis) step() float64 {
	length := a.high - a.low
	power := math.Pow(10, math.Floor(math.Log10(length/10)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if length/(f*power) <= 6 {
			return f * power
		}
	}
	return 10 * power
}

// text writes v as a mark.
func (a axis) text(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if v >= 10_000 && math.Mod(v, 1000) == 0 {
		s = strconv.FormatFloat(v/1000, 'f', -1, 64) + "k"
	}
	return s + a.unit
}
