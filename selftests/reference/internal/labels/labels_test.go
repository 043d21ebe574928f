package labels

import (
	"maps"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		message string
		set     map[string]string
	}{
		{"", map[string]string{}},
		{"...", map[string]string{}},
		{`a="1, b=2", "odd =\""="\xff", ...`, map[string]string{"a": "1, b=2", `odd ="`: "\xff"}},
		{"free text", nil},
		{"a=1", nil},
		{`a="1"b="2"`, nil},
	} {
		set, ok := Parse(c.message)
		if ok != (c.set != nil) || ok && !maps.Equal(set, c.set) {
			t.Errorf("%q: %q, %v", c.message, set, ok)
		}
	}
}
