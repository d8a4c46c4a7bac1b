// Package wordmap draws word vectors as a map: near words lie together.
//
// Start at [New], which places the words and finds their neighbours. [Map.WriteHTML]
// makes a page to search and to walk about in, [Map.WriteSVG] a picture.
package wordmap
