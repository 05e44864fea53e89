package console_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

// TestScreenshots makes the pictures of docs/console.md, in a little more than
// a minute of traffic:
//
//	CONSOLE_SCREENSHOTS=../../docs/img go test -run Screenshots ./console
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("CONSOLE_SCREENSHOTS")
	if folder == "" {
		t.Skip("CONSOLE_SCREENSHOTS names no folder")
	}
	w := newWorld(t, console.Config{Interval: time.Second, Title: "Shop"},
		console.WithActions(anybody), console.WithErrors(error.Error))
	busy(w)
	b := browse(t)
	time.Sleep(75 * time.Second)
	for _, scheme := range []string{"light", "dark"} {
		b.open(w.url, 1440, 1200, scheme)
		b.wait(`document.querySelectorAll("#rows tr").length > 5`)
		b.click("#rows tr.down .name")
		b.wait(`document.querySelectorAll("tr.detail .facts dd").length > 5 && document.querySelector("tr.detail path").getAttribute("d") !== null`)
		time.Sleep(1500 * time.Millisecond)
		b.save(filepath.Join(folder, "console-"+scheme+".png"))
	}
}

// save writes a picture of what is seen, packed as well as it goes.
func (b *tab) save(path string) {
	b.t.Helper()
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, paletted(picture)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// paletted returns picture in at most 256 colours: there are hardly more, but
// for the edges of letters.
func paletted(picture image.Image) image.Image {
	often := make(map[color.Color]int)
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			often[picture.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int { return cmp.Compare(often[b], often[a]) })
	packed := image.NewPaletted(box, distinct(colors))
	nearest := make(map[color.Color]uint8)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := picture.At(x, y)
			if _, ok := nearest[c]; !ok {
				nearest[c] = uint8(packed.Palette.Index(c))
			}
			packed.SetColorIndex(x, y, nearest[c])
		}
	}
	return packed
}

// distinct returns the first 256 colours that are not almost the same.
func distinct(colors []color.Color) (all color.Palette) {
	const same = 6 << 8
	for _, c := range colors {
		if len(all) > 0 {
			r, g, b, _ := c.RGBA()
			x, y, z, _ := all.Convert(c).RGBA()
			if max(r, x)-min(r, x) < same && max(g, y)-min(g, y) < same && max(b, z)-min(b, z) < same {
				continue
			}
		}
		if all = append(all, c); len(all) == 256 {
			break
		}
	}
	return all
}

// busy is a shop with some trouble: one host is down, another one slow, a
// bulkhead is full, and faults are injected.
func busy(w *world) {
	ctx, cancel := context.WithCancel(context.Background())
	var traffic sync.WaitGroup
	w.t.Cleanup(func() {
		cancel()
		traffic.Wait()
	})
	run := func(r *middleware.Registry, key string, every, takes time.Duration, fails func(at time.Duration) float64) {
		start := time.Now()
		traffic.Go(func() {
			for ctx.Err() == nil {
				traffic.Go(func() {
					var err error
					if rand.Float64() < fails(time.Since(start)) {
						err = fmt.Errorf("dial tcp %s: %w", key, errDown)
					}
					_ = call(ctx, r, key, time.Duration(float64(takes)*(0.6+rand.ExpFloat64()*0.5)), err)
				})
				time.Sleep(time.Duration(float64(every) * (0.5 + rand.Float64())))
			}
		})
	}
	never := func(time.Duration) float64 { return 0 }
	rarely := func(time.Duration) float64 { return 0.01 }
	late := func(at time.Duration) float64 {
		if at > 45*time.Second {
			return 0.95
		}
		return 0.02
	}
	flaps := func(at time.Duration) float64 {
		if at > 20*time.Second && at < 34*time.Second {
			return 0.9
		}
		return 0.01
	}
	catalog := w.registry(middleware.Reads("catalog"))
	run(catalog, "catalog-1.shop.internal", 12*time.Millisecond, 9*time.Millisecond, rarely)
	run(catalog, "catalog-2.shop.internal", 12*time.Millisecond, 11*time.Millisecond, never)
	run(catalog, "catalog-3.shop.internal", 14*time.Millisecond, 10*time.Millisecond, flaps)
	standard := middleware.Standard("payments")
	standard.Breaker = &breaker.Config{OpenFor: 6 * time.Second}
	payments := w.registry(standard)
	run(payments, "pay.example.com", 30*time.Millisecond, 70*time.Millisecond, late)
	run(payments, "pay-eu.example.com", 40*time.Millisecond, 80*time.Millisecond, rarely)
	narrow := middleware.Standard("search")
	narrow.Bulkhead = &bulkhead.Config{Limit: 8, MaxQueue: 20, MaxWait: time.Second}
	search := w.registry(narrow)
	run(search, "search.shop.internal", 25*time.Millisecond, 190*time.Millisecond, rarely)
	reviews := w.registry(middleware.Standard("reviews"))
	run(reviews, "reviews.shop.internal", 45*time.Millisecond, 30*time.Millisecond, never)
	mail := w.registry(middleware.Standard("mail"))
	run(mail, "smtp.shop.internal", 400*time.Millisecond, 120*time.Millisecond, rarely)
	mail.Get("smtp.shop.internal", backstay.Now()).Breaker().MetricsOnly()
	w.registry(middleware.Standard("invoices"), "invoices.shop.internal")
	traffic.Go(func() {
		for ctx.Err() == nil {
			w.console.Observer().Observe(ctx, backstay.Event{
				Kind: backstay.FaultInjected, Policy: "reviews", Key: "reviews.shop.internal", Reason: "slow-reviews", Wait: 300 * time.Millisecond,
			})
			time.Sleep(700 * time.Millisecond)
		}
	})
}
