package report

import (
	_ "embed" // style.css and page.js
	"fmt"
	"html"
	"html/template"
	"io"
)

//go:embed style.css
var style string

//go:embed page.js
var script string

// Page writes an HTML page around a body.
func Page(w io.Writer, title string, body template.HTML) error {
	return RefreshingPage(w, title, body, 0)
}

// RefreshingPage writes a page that loads itself again every so many seconds; 0: never.
func RefreshingPage(w io.Writer, title string, body template.HTML, seconds int) error {
	refresh := ""
	if seconds > 0 {
		refresh = fmt.Sprintf("<meta http-equiv=\"refresh\" content=\"%d\">\n", seconds)
	}
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
%s<title>%s</title>
<style>
%s</style>
<script>
%s</script>
</head>
<body>
%s
</body>
</html>
`, refresh, html.EscapeString(title), style, script, body)
	return err
}
