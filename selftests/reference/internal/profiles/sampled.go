package profiles

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// runtime/pprof prints them, the runtime's traces do not.
var typeArguments = regexp.MustCompile(`\[.*\]`)

// Share is the number of samples of a function in two profiles.
type Share struct {
	Function string `json:"function"`
	Ours     int64  `json:"ours"`
	Theirs   int64  `json:"theirs"`
}

// Flat returns the samples by innermost function, those with the most in both profiles together
// first.
func Flat(ours, theirs *profile.Profile) []Share {
	shares := map[string]*Share{}
	for i, p := range []*profile.Profile{ours, theirs} {
		for _, s := range p.Sample {
			name := ""
			if len(s.Location) > 0 && len(s.Location[0].Line) > 0 {
				name = typeArguments.ReplaceAllString(s.Location[0].Line[0].Function.Name, "[...]")
			}
			if shares[name] == nil {
				shares[name] = &Share{Function: name}
			}
			if i == 0 {
				shares[name].Ours += s.Value[0]
			} else {
				shares[name].Theirs += s.Value[0]
			}
		}
	}
	sorted := slices.SortedFunc(maps.Values(shares), func(a, b *Share) int {
		return cmp.Or(-cmp.Compare(a.Ours+a.Theirs, b.Ours+b.Theirs), strings.Compare(a.Function, b.Function))
	})
	var flat []Share
	for _, s := range sorted {
		flat = append(flat, *s)
	}
	return flat
}

// ChiSquare is the test of homogeneity of two samples: the statistic, its degrees of freedom, and
// the probability of one as large if both are drawn from the same distribution.
func ChiSquare(shares []Share) (statistic float64, freedom int, probability float64) {
	var ours, theirs float64
	for _, s := range shares {
		ours += float64(s.Ours)
		theirs += float64(s.Theirs)
	}
	if ours == 0 || theirs == 0 {
		return 0, 0, math.NaN()
	}
	ratio := math.Sqrt(theirs / ours)
	for _, s := range shares {
		difference := float64(s.Ours)*ratio - float64(s.Theirs)/ratio
		statistic += difference * difference / float64(s.Ours+s.Theirs)
	}
	return statistic, len(shares) - 1, upperGamma(float64(len(shares)-1)/2, statistic/2)
}

// upperGamma is the regularized upper incomplete gamma function Q(a, x), by its series below a + 1
// and by its continued fraction above.
func upperGamma(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	logGamma, _ := math.Lgamma(a)
	scale := math.Exp(a*math.Log(x) - x - logGamma)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1.0; n < 10000 && term > sum*1e-15; n++ {
			term *= x / (a + n)
			sum += term
		}
		return 1 - scale*sum
	}
	fraction := 0.0
	for n := 1000.0; n > 0; n-- {
		fraction = n * (n - a) / (x + 2*n + 1 - a - fraction)
	}
	return scale / (x + 1 - a - fraction)
}
