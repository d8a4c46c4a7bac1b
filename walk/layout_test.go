package walk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// graphFiles are files as users have them: how they begin or what they hold, flags (w weighted, d directed), and what must come of them:
// the edges, behind ~ a part of each note, or behind ! the error.
var graphFiles = []struct{ content, flags, want string }{
	// Separators.
	{"a b\nb c\n", "", "a-b b-c"},
	{"a b\nb  c\n", "", "a-b b-c"},
	{" a b \n\tb\tc\t\n", "", "a-b b-c"},
	{"a\tb\nb\tc", "", "a-b b-c"},
	{"a\tb\nb c\n", "", "a-b b-c"},
	{"a \t b\nb\t c\n", "", "a-b b-c"},
	{"a,b\nb, c\n", "", "a-b b-c"},
	{"a;b\nb;c\n", "", "a-b b-c"},
	{"a\tb\t1\nb\tc\t2\n", "w", "a-b:1 b-c:2"},
	{"a;b;0.5\nb;c;2\n", "w", "a-b:0.5 b-c:2"},
	{"anna;bob;0,5\n", "w", "! line 1, column 10: \"0,5\" is not a weight: a weight is a number with a point"},
	{"anna;bob;0,5\nbob;carl;1\n", "w", "! line 1, column 10: \"0,5\" is not a weight"},
	{"anna;bob;1\nbob;carl;0,5\n", "w", "! line 2, column 10: \"0,5\" is not a weight"},
	{"anna;bob;0,5\nbob;carl;1,5\n", "", "! line 1, column 10: the third column, \"0,5\", is no number"},
	{"anna\tbob\t0,5\nbob\tcarl\t1,5\n", "w", "! line 1, column 10: \"0,5\" is not a weight"},
	{"anna bob 0,5\nbob carl 1,5\n", "w", "! line 1, column 12: 2 columns separated by commas do not make an edge"},
	{"a,b\t1\nb,c\t2\n", "", "! line 1, column 1: more than one of tab"},
	{"a,b 1\nb,c 2\n", "", "! line 1, column 3: \"b 1\" cannot be the name of a node"},
	{"a,b\nb;c\n", "", "! line 2, column 4: it has 1 columns separated by commas, and the first line has 2"},
	{"a;b\nb,c\n", "", "! line 2, column 4: it has 1 columns separated by semicolons"},
	{"a,b\nb c\n", "", "! line 2, column 4: it has 1 columns separated by commas"},
	{"a b\nb,c\n", "", "! line 2, column 4: it has 1 columns separated by spaces"},
	{"a|b\nb|c\n", "", "! line 1, column 1: 1 columns separated by spaces do not make an edge"},
	{"a b\n\nc\n", "", "! line 3, column 2: it has 1 columns"},
	{"c\na b\n", "", "! line 2, column 4: it has 2 columns separated by spaces, and the first line has 1"},
	{"1 2\n3 4\n5", "", "! line 3, column 2: it has 1 columns"},
	{"1 2\n3 4\n5 6 7\n", "", "! line 3, column 6: it has 3 columns separated by spaces, and the first line has 2"},
	{"1 2\n1 2 3\n", "w", "! line 2, column 6: it has 3 columns"},
	{"1 2\n3 4\n", "w", "! line 1, column 3: 2 columns separated by spaces do not make an edge"},
	{"a,b\n,c\n", "", "! line 2, column 1: \"\" cannot be the name of a node"},
	{"a,,b\n", "", "! line 1, column 4: the third column, \"b\", is no number"},
	{"a\t\t1\nb\tc\t1\n", "w", "! line 1, column 3: \"\" cannot be the name of a node"},
	{"a,New York\nb,c\n", "", "! line 1, column 3: \"New York\" cannot be the name of a node"},
	{", the\nthe cat\ncat ,\n", "", ",-cat ,-the cat-the"},
	{"1,000 2\n2 3\n", "", "1,000-2 2-3"},

	// More columns.
	{"a b 0.5\nb c 2\n", "", "a-b b-c ~ columns after the second are ignored; use --weighted"},
	{"1 2 3 1577836800\n2 3 4 1577836801\n", "w", "1-2:3 2-3:4 ~ columns after the third are ignored"},
	{"a,b,\nb,c,\n", "", "a-b b-c ~ columns after the second are ignored"},
	{"a,b\nb,c,\n", "", "! line 2, column 5: it has 3 columns"},
	{"a,b,\nb,c,\n", "w", "! line 1, column 5: \"\" is not a weight"},
	{"1 2 {}\n2 3 {}\n", "", "1-2 2-3 ~ columns after the second are ignored"},
	{"1 2 {'weight': 3}\n2 3 {'weight': 4}\n", "", "1-2 2-3 ~ columns after the second are ignored"},
	{"1 2 {'weight': 3}\n2 3 {'weight': 4}\n", "w", "! line 1, column 5: \"{'weight':\" is not a weight"},
	{"1 2 {}\n2 3 {'weight': 4}\n", "", "! line 2, column 18: it has 4 columns"},
	{"Paris capital France\nRome capital Italy\n", "", "! line 1, column 15: the third column, \"France\", is no number: the nodes must stand in the first two columns"},
	{"a -> b\nb -> c\n", "", "! line 1, column 6: the third column"},
	{"<a> <knows> <b> .\n<b> <knows> <c> .\n", "", "! line 1, column 13: the third column"},
	{"a,b,2020-01-01\n", "", "! line 1, column 5: the third column, \"2020-01-01\""},

	// Titles.
	{"Source,Target\na,b\nb,c\n", "", "a-b b-c"},
	{"# FromNodeId\tToNodeId\n1\t2\n", "", "1-2"},
	{"\"from\" \"to\"\n\"a\" \"b\"\n", "", "a-b"},
	{"node_1,node_2\na,b\nb,c\n", "", "a-b b-c"},
	{"id_1,id_2\n1,2\n2,3\n", "", "1-2 2-3"},
	{"node1 node2\nnode2 node3\n", "", "node1-node2 node2-node3"},
	{"source,target\na,b\nsource,target\nc,d\n", "", "! line 3, column 1: \"source\" is a node here, but the first line was read as titles, \"source\" and \"target\": move that line down"},
	{"from to\nto be\n", "", "! line 2, column 1: \"to\" is a node here, but the first line was read as titles"},
	{"to be\nfrom to\n", "", "be-to from-to"},
	{"u v\na u\n", "", "a-u u-v"},
	{"u,v\n1,2\n2,3\n", "", "1-2 2-3"},
	{"alice bob\n", "", "alice-bob"},
	{"follower,followee\nanna,bob\nbob,anna\n", "d", "anna-bob bob-anna follower-followee ~ the nodes of the first edge are in no other: remove the line if they are titles"},
	{"alice bob\ncarl dan\n", "", "alice-bob carl-dan"},
	{"anna heat\n1 2\n", "", "1-2 ~ a number that stands below both \"anna\" and \"heat\" is one node"},
	{"user,item\n1,1\n2,1\n", "", "1-1 1-2 ~ a number that stands below both \"user\" and \"item\" is one node: if these are two sets ~ 1 edges lead from a node to itself"},
	{"userId,movieId,rating,timestamp\n1,1,4.0,96\n1,3,4.5,97\n", "w", "1-1:4 1-3:4.5 ~ columns after the third ~ below both \"userId\" and \"movieId\" ~ 1 edges lead"},
	{"user,item\nanna,heat\nbob,heat\n", "", "anna-heat bob-heat"},
	{"u,v,w\na,b,1\nb,c,2\n", "w", "a-b:1 b-c:2"},
	{"u,v,w\na,b,1\nb,c,2\n", "", "a-b b-c ~ columns after the second"},
	{"u,v,w\na,u,1\n", "w", "! line 1, column 5: \"w\" is not a weight"},
	{"u,v,w\na,u,1\n", "", "! line 1, column 5: the third column, \"w\", is no number"},
	{"source target weight\na b 1\n", "w", "a-b:1"},
	{"back to 7\nto be 2\n", "w", "back-to:7 be-to:2"},
	{"weight loss 7\nloss of 2\n", "w", "loss-of:2 loss-weight:7"},
	{"from to 5\nto be 2\n", "w", "be-to:2 from-to:5"},
	{"Source,Target,Type,Id,Label,timeset,Weight\na,b,Undirected,0,,,1.0\n", "", "a-b ~ columns after the second"},
	{"Source,Target,Type,Id,Label,timeset,Weight\na,b,Undirected,0,,,1.0\n", "w", "! line 1, column 37: the title \"Weight\" stands above the wrong column"},
	{",source,target\n0,a,b\n", "", "! line 1, column 9: the title \"target\" stands above the wrong column"},
	{"Unnamed: 0,source,target\n0,a,b\n", "", "! line 1, column 19: the title \"target\" stands above"},
	{"id,source,target\n0,a,b\n", "", "! line 1, column 11: the title \"target\" stands above"},
	{"head,relation,tail\na,likes,b\n", "", "! line 1, column 15: the title \"tail\" stands above"},
	{"1,2\nsource,target\n", "", "1-2 source-target"},
	{"User Name,Item Name\nanna,heat\n", "", "! line 1, column 1: \"User Name\" cannot be the name of a node"},
	{"\n\n# c\n\nsource target\n\n1 2\n", "", "1-2"},

	// Weights.
	{"alice bob 1e400\nalice carl 2\n", "w", "! line 1, column 11: \"1e400\" is not a weight"},
	{"alice bob 3.5kg\nalice carl 2\n", "w", "! line 1, column 11: \"3.5kg\" is not a weight"},
	{"alice bob 3.5kg\ncarl dan 2\n", "w", "! line 1, column 11: \"3.5kg\" is not a weight"},
	{"alice bob 3.5kg\ncarl dan 2\n", "", "! line 1, column 11: the third column, \"3.5kg\", is no number"},
	{"alice bob NA\ncarl dan 2\n", "w", "! line 1, column 11: \"NA\" is not a weight"},
	{"alice bob nan\ncarl dan 2\n", "w", "! line 1, column 11: the weight NaN"},
	{"alice bob strong\nalice carl 2\n", "w", "! line 1, column 11: \"strong\" is not a weight"},
	{"1 2 x\n2 3 1\n", "w", "! line 1, column 5: \"x\" is not a weight"},
	{"a b 1\nb c x\n", "w", "! line 2, column 5: \"x\" is not a weight"},
	{"a b 1\nb c\n", "w", "! line 2, column 4: it has 2 columns"},
	{"a b 1\nb c 0\n", "w", "! line 2, column 5: the weight 0 is not a positive float32 number"},
	{"1 2 1\n2 3 0\n", "w", "! line 2, column 5: the weight 0"},
	{"a b -1\n", "w", "! line 1, column 5: the weight -1"},
	{"a b inf\n", "w", "! line 1, column 5: the weight +Inf"},
	{"1 2 1e39\n", "w", "! line 1, column 5: the weight 1e+39"},
	{"a b 1e-50\n", "w", "! line 1, column 5: the weight 1e-50"},
	{"1 2 1,5\n", "w", "! line 1, column 7: 2 columns separated by commas"},
	{"1 2 1.5.2\n2 3 1\n", "w", "! line 1, column 5: \"1.5.2\" is not a weight"},
	{"1\t2\t\n2\t3\t1\n", "w", "! line 1, column 5: \"\" is not a weight"},
	{"a b 0.5\nb c 2\nb a 5e-1\n", "w", "a-b:0.5 b-c:2 ~ 1 edges occur more than once"},
	{"a b 1\nb c 1\nb a 2\n", "w", "! the edge of a and b has several weights, 1, 2: give one line with their sum, 3, or read the graph as directed"},
	{"a b 1\na b 2\n", "wd", "! the edge of a and b has several weights, 1, 2: give one line with their sum, 3, or remove all but one"},
	{"a b 1\nb a 2\n", "wd", "a-b:1 b-a:2"},
	{"a b \"1\"\n", "w", "a-b:1"},
	{"a b +1\nb c .5\n", "w", "a-b:1 b-c:0.5"},

	// Line ends, encodings, control characters.
	{"a,b\r\nb, c\r\n", "", "a-b b-c"},
	{"a b\r\nb c\n", "", "a-b b-c"},
	{"1 2 3\r\n2 3 4\r\n", "w", "1-2:3 2-3:4"},
	{"a b\rb c\rc d\r", "", "! line 1, column 4: a line ends with U+000D: write LF or CR LF"},
	{"1 2\r3 4\r", "", "! line 1, column 4: a line ends with U+000D: write LF or CR LF"},
	{"1 2\n3 4\r5 6\n", "", "! line 2, column 4: a line ends with U+000D"},
	{"# edges\r1 2\r3 4\r", "", "! line 1, column 8: a line ends with U+000D"},
	{"1 2\u20283 4\u2028", "", "! line 1, column 4: a line ends with U+2028: write LF or CR LF"},
	{"a,b\u0085c,d", "", "! line 1, column 4: a line ends with U+0085: write LF or CR LF"},
	{"a b\nb c\u2028c d\n", "", "! line 2, column 4: a line ends with U+2028"},
	{"a,b\nb,c\u2028\n", "", "! line 2, column 4: a line ends with U+2028: write LF or CR LF"},
	{"a\u00a0b c\n", "", "! line 1, column 1: \"a\\u00a0b\" cannot be the name of a node"},
	{"a\u3000b\n", "", "! line 1, column 1: 1 columns"},
	{"a b\x00\nb c\n", "", "! line 1, column 3: \"b\\x00\" cannot be the name of a node"},
	{"1 2\n2 3\x00\n", "", "! line 2, column 3: \"3\\x00\" cannot be the name of a node"},
	{"a\x00 \x00b\x00\n\x00", "", "! line 2, column 2: it has 1 columns"},
	{"a \x1b[31mb\n", "", "! line 1, column 3: \"\\x1b[31mb\" cannot be the name of a node"},
	{"a \xff\n", "", "! line 1, column 3: \"\\xff\" cannot be the name of a node"},
	{"\uFEFFa b\nb c\n", "", "a-b b-c"},
	{"\uFEFF# nodes: 3\n% sym\n\na b\n", "", "a-b"},
	{"\uFEFFsource,target\n1,2\n", "", "1-2"},
	{"a b\n\uFEFFb c\n", "", "! line 2, column 1: \"\\ufeffb\" cannot be the name of a node"},
	{"\xff\xfea\x00 \x00b\x00", "", "! this is UTF-16 text, which cannot be read as text"},
	{"Müller Größe\nГород Москва\n", "", "Größe-Müller Город-Москва"},
	{"😀 👍\n", "", "👍-😀"},
	{"PK\x03\x04", "", "! this is zip, which cannot be read as text: unpack it first"},

	// Quotation marks.
	{"\"a\";\"b\"\nb;c\n", "", "a-b b-c"},
	{"\"a,b\",c\n\"d,e\",c\n", "", "! line 1, column 1: \"\\\"a\" begins with a quotation mark and does not end with one"},
	{"\"a;b\";c\n", "", "! line 1, column 1: \"\\\"a;b\\\";c\" begins with a quotation mark and does not end with one"},
	{"\"a,b\",c\nd,c\n", "", "! line 1, column 1: \"\\\"a\" begins with a quotation mark and does not end with one"},
	{"a,\"b\"\"c\"\n", "", "a-b\"c"},
	{"a, \"b\" \nb ,c\n", "", "a-b b-c"},
	{"\"a\tb\n", "", "\"a-b"},
	{"\"a b\" 5\n", "w", "! line 1, column 1: \"\\\"a b\\\" 5\" begins with a quotation mark"},
	{"\"a b\",c\n", "", "! line 1, column 1: \"a b\" cannot be the name of a node"},
	{"\"a\nb\",c\n", "", "! line 1, column"},
	{"\"a,b\nc,d\n", "", "! line 1, column 1: \"\\\"a\" begins with a quotation mark and does not end with one"},
	{"a,b\n\"c\"d,e\n", "", "! line 2, column 1: \"\\\"c\\\"d\" begins with a quotation mark and does not end with one"},
	{"\"a\" \"b\"\n", "", "a-b"},
	{"\"a b\" c\n\"d e\" c\n", "", "! line 1, column 1: \"\\\"a b\\\" c\" begins with a quotation mark and does not end with one"},
	{"\" the\nthe \"\n", "", "\"-the ~ 1 edges occur more than once"},
	{"5\" 7\"\n", "", "5\"-7\""},

	// Comments and empty lines.
	{"# nothing\n", "", "! the file has no edges"},
	{"", "", "! graph: the file has no edges"},
	{"% sym unweighted\n% 2 3 3\n1 2\n2 3\n", "", "1-2 2-3"},
	{"a b\n\n#x y\nb c\n", "", "a-b b-c ~ 1 lines among the edges are comments"},
	{"a b\n  % x\nb c\n \r\n", "", "a-b b-c ~ 1 lines among the edges are comments"},
	{"rust #go\n#go #ai\n", "", "#go-rust ~ 1 lines among the edges are comments, because they begin with # or %: write a node of such a name within quotation marks"},
	{"\"#go\" \"#ai\"\n", "", "#ai-#go"},
	{"a b # note\nb c # note\n", "", "! line 1, column 5: the third column, \"#\", is no number"},

	// Numbers.
	{"01 1\n1 2\n", "", "01-1 1-2 ~ the names of 1 nodes are numbers in an unusual form: 01 and 1 are different nodes"},
	{"1.0 1\n1 2\n", "", "1-1.0 1-2 ~ the names of 1 nodes are numbers in an unusual form: 1.0 and 1 are different"},
	{"+1 1\n1 1e0\n", "", "+1-1 1-1e0 ~ the names of 2 nodes are numbers in an unusual form: +1 and 1 are different"},
	{"x0.5 0.50\n0.5 b\n", "", "0.5-b 0.50-x0.5 ~ the names of 1 nodes are numbers in an unusual form: 0.50 and 0.5 are different"},
	{"001 002\n002 010\n", "", "001-002 002-010 ~ the names of 3 nodes are numbers in an unusual form: 001 and 1 are different"},
	{"1.000000000000000000e+00 2.000000000000000000e+00\n", "", "1.000000000000000000e+00-2.000000000000000000e+00 ~ the names of 2 nodes are numbers in an unusual form"},
	{"4294967296 4294967297\n99999999999999999 4294967297\n", "", "4294967296-4294967297 4294967297-99999999999999999"},
	{"7 x\n007 7\n123456789012345678901 x\n", "", "007-7 123456789012345678901-x 7-x ~ 007 and 7 are different"},
	{"0 1\n1 0\n", "d", "0-1 1-0"},
	{"34 78\n1 2\n2 3\n", "", "1-2 2-3 34-78"},
	{"3 2\n1 2\n2 0\n", "", "0-2 1-2 2-3 ~ the first edge, 3 2, may be the numbers of nodes and edges"},
	{"5 4\n1 2\n2 3\n3 4\n4 5\n", "", "1-2 2-3 3-4 4-5 ~ the first edge, 5 4, may be the numbers of nodes and edges, which the file has: remove the line then ~ 1 edges occur"},
	{"4 3\n10 20\n20 30\n30 40\n", "", "10-20 20-30 3-4 30-40 ~ the first edge, 4 3, may be"},
	{"4 4\n2 3\n1 3 4\n1 2\n2\n", "", "! line 3, column 6: it has 3 columns"},

	// Loops and repetitions.
	{"a a\na b\nb b\n", "", "a-a a-b b-b ~ 2 edges lead from a node to itself"},
	{"a b\nb a\nb c\nb c\n", "", "a-b b-c ~ 2 edges occur more than once; each counts once"},
	{"a b\nb a\nb c\nb c\n", "d", "a-b b-a b-c ~ 1 edges occur more than once; each counts once"},

	// Other formats.
	{"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", "", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how"},
	{"%%MatrixMarket matrix coordinate real general\n3 5 2\n2 1 0.5\n3 5 1\n", "w", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how"},
	{"# node node edge\na b 1\nb c 0\n", "", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs"},
	{"% bip unweighted\n1 1\n1 2\n", "", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how"},
	{"*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2\n", "", "! line 4, column 7: it has 1 columns"},
	{"graph [\n  node [\n    id 1 label \"a\" ]\n]\n", "", "! line 3, column 21: it has 5 columns"},
	{"graph G {\n  a -- b;\n}\n", "", "! line 3, column 2: it has 1 columns"},
	{"strict digraph {\n  a -> b;\n}\n", "", "! line 3, column 2: it has 1 columns"},
	{"<gexf xmlns=\"\">\n<graph>\n", "", "! line 2, column 8: it has 1 columns"},
	{"{\"nodes\": [1, 2]}\n", "", "! line 1, column 1: \"{\\\"nodes\\\": [1\" cannot be the name of a node"},
	{"[(1, 2), (2, 3)]\n", "", "! line 1, column 10: the third column, \"(2\", is no number"},
	{"('a', 'b')\n('b', 'c')\n", "", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how"},
	{"c road\np sp 3 2\na 1 2 5\na 2 3 5\n", "w", "! line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how"},
	{"0 1 1 0\n1 0 1 0\n1 1 0 1\n0 0 1 0\n", "w", "! line 3, column 5: the weight 0"},
	{"0 1 1 0\n1 0 1 0\n1 1 0 1\n0 0 1 0\n", "", "0-0 0-1 1-1 ~ columns after the second ~ 1 edges ~ 2 edges"},
	{"1 2 3\n2 3\n3 1 4 5\n", "", "! line 2, column 4: it has 2 columns separated by spaces, and the first line has 3"},
	{"graph theory\ntheory graph\n", "", "graph-theory ~ 1 edges occur more than once"},

	// Size.
	{"a b\n" + strings.Repeat("x", 4*textfile.LongestLine), "", "! line 2: it has more than"},
	{strings.Repeat("x", 4*textfile.LongestLine), "", "! line 1: it has more than"},
	{strings.Repeat("1 2\r", many), "", "! line 1, column 4: a line ends with U+000D"},
	{strings.Repeat("1 2\n", many) + "3\n4\n", "", fmt.Sprintf("! line %d, column 2: it has 1 columns", many+1)},
	{strings.Repeat("1 2\n", 1000) + "3,4\n", "", "! line 1001, column 4: it has 1 columns separated by spaces"},
	{strings.Repeat("1\t2\n", 1000) + "3 4\n", "", "! line 1001, column 4: it has 1 columns separated by tabs"},
	{"root hub\n" + strings.Repeat("1 2\n", many) + "2 x\n", "", fmt.Sprintf("! line %d, column 3: \"x\" is a node here, but the first line was read as titles, \"root\" and \"hub\"", many+2)},
	{strings.Repeat("# c\n", many) + "1 2\n", "", "1-2"},
	{strings.Repeat("# c\n", many) + "from to\n1 2\n", "", "1-2"},
	{strings.Repeat("# c\n", many) + "1,2\n3\n", "", fmt.Sprintf("! line %d, column 2: it has 1 columns", many+2)},
}

// many lines are of several chunks.
const many = 300_000

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	for _, c := range graphFiles {
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		g, notes, err := Read(t.Context(), path, ReadOptions{Directed: strings.Contains(c.flags, "d"), Weighted: strings.Contains(c.flags, "w")})
		want, refused := strings.CutPrefix(c.want, "! ")
		parts := strings.Split(want, " ~ ")
		switch {
		case refused && err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), path): // as it must be
		case err != nil:
			t.Errorf("%.60q %s: error %v, want %s", c.content, c.flags, err, c.want)
		case refused || list(g) != parts[0] || len(notes) != len(parts)-1:
			t.Errorf("%.60q %s: edges %s (%s), notes %q, want %s", c.content, c.flags, list(g), g.Layout, notes, c.want)
		default:
			for i, note := range parts[1:] {
				if !strings.Contains(notes[i], note) {
					t.Errorf("%.60q %s: note %q, want %s", c.content, c.flags, notes[i], note)
				}
			}
			checkWritten(t, g)
		}
	}
}

// checkWritten checks that a graph is written as a list that is read as the same graph.
func checkWritten(t *testing.T, g *Graph) {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteEdges(&b); err != nil {
		t.Fatal(err)
	}
	again, _, err := read(t.Context(), source(b.String()), ReadOptions{Directed: g.Directed, Weighted: g.weights != nil})
	titles := slices.Contains(g.Names, "source") && err != nil && strings.Contains(err.Error(), "\"source\" is a node here")
	if !titles && (err != nil || list(again) != list(g)) {
		t.Errorf("%q is read with error %v, want %s", b.String(), err, list(g))
	}
}

// TestFormats writes the same edges in every way that is documented, and expects the same walks.
func TestFormats(t *testing.T) {
	edges := [][]string{{"a", "b", "1"}, {"b", "c", "2.5"}, {"c", "ä", "1e-1"}, {"ä", "7", "3"}, {"7", "a", "1"}, {"c", "c", "4"}}
	want := map[bool]string{}
	try := func(content string, weighted bool) {
		g, _, err := read(t.Context(), source(content), ReadOptions{Weighted: weighted, Threads: 2})
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		walks := text(t, g, Options{Walks: 3, Length: 9, P: 0.5, Q: 2})
		if want[weighted] == "" {
			want[weighted] = walks
		}
		if walks != want[weighted] {
			t.Errorf("%q: other walks", content)
		}
	}
	for number := range 6 * 4 * 2 * 2 * 2 * 2 {
		i := number
		choose := func(ways ...string) string {
			way := ways[i%len(ways)]
			i /= len(ways)
			return way
		}
		separator, before := choose(" ", "\t", " \t ", ",", " , ", ";"), choose("", "\uFEFF", "# comment\n", "%\n\n")
		end, mark, titles, weights := choose("\n", "\r\n"), choose("", `"`), choose("", "source target weight"), choose("", "weighted")
		var lines strings.Builder
		lines.WriteString(before)
		for _, columns := range append([][]string{strings.Fields(titles)}, edges...) {
			if weights == "" && len(columns) > 0 {
				columns = columns[:2]
			}
			lines.WriteString(strings.ReplaceAll(mark+strings.Join(columns, mark+separator+mark)+mark, `""`, "") + end)
		}
		content := lines.String()
		switch number % 3 { // to compress takes longer than to read
		case 1:
			content = zipped(t, content)
		case 2:
			content = zstandard(t, content)
		}
		try(content, weights != "")
	}
}
