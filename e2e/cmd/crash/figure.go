package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"
)

// The size of a figure, and where its dots begin.
const (
	width, height = 760, 400
	left, top     = 70, 96
	right, bottom = 24, 56
)

// style is for light and for dark pages alike.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#1f2328}
.page{fill:#ffffff}.title{font-size:17px;font-weight:600}.dim{fill:#59636e}.small{font-size:11.5px}
.grid{stroke:#d1d9e0}.mark{stroke:#818b98;stroke-dasharray:5 4}
.f0{fill:#0969da}.f1{fill:#cf222e}.f2{fill:#bc6c00}.f3{fill:#1a7f37}.f4{fill:#8250df}.f5{fill:#59636e}.f6{fill:#1b7c83}circle{opacity:.75}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.dim{fill:#9198a1}.grid{stroke:#2b323b}.mark{stroke:#7d8590}
.f0{fill:#79c0ff}.f1{fill:#ff7b72}.f2{fill:#e3b341}.f3{fill:#56d364}.f4{fill:#d2a8ff}.f5{fill:#9198a1}.f6{fill:#76e3ea}}
</style>`

// scatter is a cloud of dots.
type scatter struct {
	title, about string
	x, y         scale
	marks        []float64 // horizontal lines
	dots         []dot
	names        []string // of the colors
}

type scale struct {
	label     string
	low, high float64
	ticks     []float64
}

func (s scale) at(v float64) float64 { return (v - s.low) / (s.high - s.low) }

type dot struct {
	x, y  float64
	color int
}

// svg returns the drawing.
func (s scatter) svg() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say := func(x, y float64, anchor, class, text string) {
		put(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
	}
	x := func(v float64) float64 { return left + s.x.at(v)*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - s.y.at(v)*(height-top-bottom) }
	put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`, width, height, width, height, html.EscapeString(s.title))
	put("%s", style)
	put(`<rect width="%d" height="%d" rx="8" class="page"/>`, width, height)
	say(24, 34, "start", "title", s.title)
	say(24, 56, "start", "dim", s.about)
	at := 24.0
	for i, name := range s.names {
		if slices.ContainsFunc(s.dots, func(d dot) bool { return d.color == i }) {
			put(`<circle cx="%.1f" cy="74" r="4" class="f%d"/>`, at+5, i)
			say(at+14, 78.5, "start", "small", name)
			at += 34 + 6.4*float64(len(name))
		}
	}
	for _, v := range s.y.ticks {
		put(`<path d="M%d %.1fh%d" class="grid"/>`, left, y(v), width-left-right)
		say(left-8, y(v)+4, "end", "dim small", fmt.Sprintf("%g", v))
	}
	for _, v := range s.marks {
		put(`<path d="M%d %.1fh%d" class="mark"/>`, left, y(v), width-left-right)
	}
	for _, v := range s.x.ticks {
		say(x(v), height-bottom+18, "middle", "dim small", fmt.Sprintf("%g", v))
	}
	say((left+width-right)/2, height-14, "middle", "dim", s.x.label)
	say(width-right, 78.5, "end", "dim small", s.y.label)
	for _, d := range s.dots {
		put(`<circle cx="%.1f" cy="%.1f" r="2.6" class="f%d"/>`, x(d.x), y(min(d.y, s.y.high)), d.color)
	}
	put("</svg>")
	return b.String()
}

// drawOutages shows each outage, in the order of the failures.
func drawOutages(all []result) string {
	s := scatter{
		title: "Outages, one dot a failure", about: "From the failure to the answer of the last partition of those who failed; dashed: 1.2 s and 3 s.",
		x: ticked("failure", 0, float64(len(all)+1)), names: modes, marks: []float64{1.2, 3},
	}
	most := 3.5
	for _, r := range all {
		if r.Outage > 0 {
			s.dots = append(s.dots, dot{float64(r.Number), r.Outage.Seconds(), slices.Index(modes, r.Mode)})
			most = max(most, r.Outage.Seconds())
		}
	}
	s.y = ticked("seconds", 0, most)
	return s.svg()
}

// drawOrders shows how long orders took that were placed around failures.
func drawOrders(all []result) string {
	s := scatter{
		title: "Orders around a failure, one dot an order", about: "How long an order takes, by when it is placed; of every 20th failure, laid over one another.",
		x: ticked("seconds from the failure to the order", -5, 5), names: modes,
	}
	most := time.Second
	for _, r := range all {
		for _, o := range r.Orders {
			s.dots = append(s.dots, dot{o[0].Seconds(), o[1].Seconds(), slices.Index(modes, r.Mode)})
			most = max(most, o[1])
		}
	}
	s.y = ticked("seconds that an order takes", 0, most.Seconds())
	return s.svg()
}

// ticked is a scale with about five round ticks.
func ticked(label string, low, high float64) scale {
	s := scale{label: label, low: low, high: high}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (high-low)/(f*step) <= 7 {
			step *= f
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		s.ticks = append(s.ticks, math.Round(i*step*1000)/1000)
	}
	return s
}
