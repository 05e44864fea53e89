package main

import (
	"fmt"
	"html"
	"strings"
)

// figure is a drawing of one or more panels beside one another.
type figure struct {
	title, about string
	panels       []panel
}

// size is that of one of the figure's panels: all figures are about as wide.
func (f figure) size() int {
	if len(f.panels) == 1 {
		return 720
	}
	return 390
}

// panel is one system of coordinates.
type panel struct {
	width  int
	x, y   axis
	lines  []line
	shade  [2]float64 // from and to on the x-axis; nothing where they are the same
	shaded string     // what it says there
}

// line is a series of points. Lines of the same name in several panels have the
// same color.
type line struct {
	name   string
	color  int
	points []point
	bare   bool // dots without a line between them
	dots   bool
	thin   bool
	before bool // labels are left of their points
}

// point has a label where that says something.
type point struct {
	x, y  float64
	label string
	under bool // the label is below
}

const (
	panelHeight = 300
	left, right = 70, 40 // of each panel
	top, bottom = 138, 62
)

// style is for light and for dark pages alike: the drawing follows the reader's
// choice.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#1f2328}
.page{fill:#ffffff}.title{font-size:17px;font-weight:600}.head{font-weight:600}.dim{fill:#59636e}.small{font-size:11.5px}
.grid{stroke:#d1d9e0;stroke-width:1}.axis{stroke:#818b98;stroke-width:1.2}.shade{fill:#818b98;opacity:.14}
.line{fill:none;stroke-width:2.4;stroke-linejoin:round;stroke-linecap:round}.thin{stroke-width:1.5;stroke-dasharray:5 4}
.s0{stroke:#cf222e}.f0{fill:#cf222e}.s1{stroke:#bc6c00}.f1{fill:#bc6c00}.s2{stroke:#0969da}.f2{fill:#0969da}.s3{stroke:#1a7f37}.f3{fill:#1a7f37}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.dim{fill:#9198a1}.grid{stroke:#2b323b}.axis{stroke:#7d8590}.shade{opacity:.2}
.s0{stroke:#ff7b72}.f0{fill:#ff7b72}.s1{stroke:#e3b341}.f1{fill:#e3b341}.s2{stroke:#79c0ff}.f2{fill:#79c0ff}.s3{stroke:#56d364}.f3{fill:#56d364}}
</style>`

// pen writes SVG.
type pen struct{ strings.Builder }

func (p *pen) put(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// say puts text where it belongs; anchor is start, middle or end.
func (p *pen) say(x, y float64, anchor, class, text string) {
	p.put(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

// svg returns the drawing.
func (f figure) svg() string {
	var p pen
	width := len(f.panels) * (left + f.size() + right)
	height := top + panelHeight + bottom
	p.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(f.title))
	p.put("%s", style)
	p.put(`<rect width="%d" height="%d" rx="8" class="page"/>`, width, height)
	p.say(24, 34, "start", "title", f.title)
	p.say(24, 56, "start", "dim", f.about)
	p.legend(f.panels[0].lines)
	for i, panel := range f.panels {
		panel.width = f.size()
		p.put(`<g transform="translate(%d %d)">`, left+i*(panel.width+left+right), top)
		p.panel(panel)
		p.put("</g>")
	}
	p.put("</svg>")
	return p.String()
}

// legend says which color is what.
func (p *pen) legend(lines []line) {
	x := 24.0
	for _, l := range lines {
		if l.name == "" {
			continue
		}
		if l.bare {
			p.put(`<circle cx="%.1f" cy="80" r="4" class="f%d"/>`, x+11, l.color)
		} else {
			p.put(`<path d="M%.1f 80h22" class="line s%d%s"/>`, x, l.color, l.kind())
		}
		p.say(x+29, 84.5, "start", "", l.name)
		x += 29 + 6.8*float64(len(l.name)) + 26
	}
}

func (l line) kind() string {
	if l.thin {
		return " thin"
	}
	return ""
}

// place returns where a point is in a panel.
func (n panel) place(at point) (x, y float64) {
	return n.x.at(at.x) * float64(n.width), (1 - n.y.at(at.y)) * panelHeight
}

func (p *pen) panel(n panel) {
	p.axes(n)
	for _, l := range n.lines {
		p.line(n, l)
	}
}

func (p *pen) axes(n panel) {
	if n.shade[0] < n.shade[1] {
		from, to := n.x.at(n.shade[0])*float64(n.width), n.x.at(n.shade[1])*float64(n.width)
		p.put(`<rect x="%.1f" y="0" width="%.1f" height="%d" class="shade"/>`, from, to-from, panelHeight)
		p.say((from+to)/2, panelHeight/2, "middle", "dim small", n.shaded)
	}
	for _, v := range n.y.ticks() {
		_, y := n.place(point{x: n.x.low, y: v})
		p.put(`<path d="M0 %.1fh%d" class="grid"/>`, y, n.width)
		p.say(-9, y+4.5, "end", "dim small", n.y.text(v))
	}
	for _, v := range n.x.ticks() {
		x, _ := n.place(point{x: v, y: n.y.low})
		p.put(`<path d="M%.1f %dv5" class="axis"/>`, x, panelHeight)
		p.say(x, panelHeight+20, "middle", "dim small", n.x.text(v))
	}
	p.put(`<path d="M0 %dh%d" class="axis"/>`, panelHeight, n.width)
	p.say(float64(n.width)/2, panelHeight+43, "middle", "dim", n.x.label)
	p.say(24-left, -18, "start", "head", n.y.label)
}

func (p *pen) line(n panel, l line) {
	var path strings.Builder
	for i, at := range l.points {
		x, y := n.place(at)
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&path, "%c%.1f %.1f", command, x, y)
	}
	if !l.bare {
		p.put(`<path d="%s" class="line s%d%s"/>`, path.String(), l.color, l.kind())
	}
	for _, at := range l.points {
		x, y := n.place(at)
		if l.dots || l.bare {
			p.put(`<circle cx="%.1f" cy="%.1f" r="4" class="f%d"/>`, x, y, l.color)
		}
		switch {
		case at.label == "":
		case l.before:
			p.say(x-8, y-5, "end", "small", at.label)
		case at.under:
			p.say(x+5, y+16, "start", "small", at.label)
		default:
			p.say(x+7, y-8, "start", "small", at.label)
		}
	}
}
