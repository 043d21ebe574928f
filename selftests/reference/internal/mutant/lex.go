// Package mutant creates mutants of C functions, such as a `<` replaced by `<=` or a removed guard:
// cmd/mutants uses them to measure how many the unit tests catch.
package mutant

import (
	"strings"
)

type kind int

const (
	name kind = iota
	number
	text // a string or a character literal
	punct
)

// token is one C token. Comments and preprocessor lines are not tokens.
type token struct {
	kind       kind
	text       string
	start, end int // offsets in the file
	line       int
}

var operators = []string{"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "?:"}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool {
	return c >= '0' && c <= '9'
}

// lex splits valid C source. It need not reject anything else.
func lex(src string) []token {
	var tokens []token
	line := 1
	fresh := true // only white space since the start of the line

	for at := 0; at < len(src); {
		start, c := at, src[at]
		k := punct
		switch {
		case c == '\n':
			fresh = true
			line++
			at++
			continue
		case c == ' ' || c == '\t':
			at++
			continue
		case strings.HasPrefix(src[at:], "/*"):
			at = until(src, at+2, "*/")
			line += strings.Count(src[start:at], "\n")
			continue
		case strings.HasPrefix(src[at:], "//"):
			at = until(src, at, "\n") - 1
			continue
		case c == '#' && fresh:
			for at < len(src) && src[at] != '\n' {
				if src[at] == '\\' && at+1 < len(src) && src[at+1] == '\n' {
					line++
					at++
				}
				at++
			}
			continue
		case c == '"' || c == '\'':
			k = text
			for at++; at < len(src) && src[at] != c; at++ {
				if src[at] == '\\' {
					at++
				}
			}
			at++
		case isWord(c):
			k = name
			if isDigit(c) {
				k = number
			}
			for at < len(src) && (isWord(src[at]) || k == number && src[at] == '.') {
				at++
			}
		default:
			at++
			for _, op := range operators {
				if strings.HasPrefix(src[start:], op) {
					at = start + len(op)
					break
				}
			}
		}
		fresh = false
		at = min(at, len(src))
		tokens = append(tokens, token{k, src[start:at], start, at, line})
	}
	return tokens
}

// until returns the offset after the next occurrence of `what`, or the end.
func until(src string, from int, what string) int {
	if i := strings.Index(src[from:], what); i >= 0 {
		return from + i + len(what)
	}
	return len(src)
}

// function is a definition in a file; body has the tokens from its opening to its closing brace.
type function struct {
	name       string
	parameters []token
	body       []token
}

// match returns the index of the bracket that closes the one at `open`, or -1.
func match(tokens []token, open int) int {
	depth := 0

	for i := open; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// functions finds `NAME(...) {` outside of all braces.
func functions(tokens []token) []function {
	var found []function

	for i := 0; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(":
			end := match(tokens, i)
			if end < 0 {
				return found
			}
			if i > 0 && tokens[i-1].kind == name && end+1 < len(tokens) && tokens[end+1].text == "{" {
				last := match(tokens, end+1)
				if last < 0 {
					return found
				}
				found = append(found, function{tokens[i-1].text, tokens[i : end+1], tokens[end+1 : last+1]})
				i = last
			} else {
				i = end
			}
		case "{":
			if i = match(tokens, i); i < 0 {
				return found
			}
		}
	}
	return found
}
