package console

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

//go:embed assets
var embedded embed.FS

// page0 is the page without what differs from one request to the next.
var page0 = template.Must(template.ParseFS(embedded, "assets/page.html"))

// asset is a file that the page loads.
type asset struct {
	body []byte
	kind string // its content type
	tag  string // changes with the body
}

// assets are all files but the page, by their names.
var assets = loadAssets()

func loadAssets() map[string]asset {
	all := make(map[string]asset)
	names, err := fs.Glob(embedded, "assets/*")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for _, name := range names {
		if path.Ext(name) == ".html" {
			continue
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(body)
		all[path.Base(name)] = asset{body, kindOf(name), `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	}
	return all
}

// kindOf does not depend on the tables of the machine, which may lack a kind.
func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(ext)
	}
}

// serveAsset answers with a file. Browsers keep it, and ask whether it is new.
func serveAsset(w http.ResponseWriter, req *http.Request, name string) {
	a, ok := assets[name]
	if !ok {
		http.Error(w, "console: there is no such page", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	if req.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	_, _ = w.Write(a.body)
}

// page answers with the page. Who may act gets a token with it.
func (c *Console) page(w http.ResponseWriter, req *http.Request) {
	data := struct{ Title, Token string }{Title: c.config.Title, Token: c.guard.Token(req)}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page0.Execute(w, data) // who is gone needs no answer
}
