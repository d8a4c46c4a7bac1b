package report

import (
	_ "embed" // style.css
	"fmt"
	"html"
	"html/template"
	"io"
)

//go:embed style.css
var style string

// Page writes an HTML page around a body.
func Page(w io.Writer, title string, body template.HTML) error {
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body>
%s
</body>
</html>
`, html.EscapeString(title), style, body)
	return err
}
