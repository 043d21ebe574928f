// Sampled tests whether two CPU profiles in the format of pprof can be samples of the same run: the
// shares of the functions with the most samples, innermost frames only, by the chi-square test of
// homogeneity.
//
//	sampled [-top N] [-alpha P] OURS.pb.gz THEIRS.pb.gz
//
// The functions beyond the first N count as one. Prints the counts and the result as JSON; exit
// status 1 if the probability is below alpha.
package main

import (
	"encoding/json"
	"flag"
	"fmt"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/profiles"
)

type result struct {
	Ours        int64            `json:"ours"`
	Theirs      int64            `json:"theirs"`
	Statistic   float64          `json:"statistic"`
	Freedom     int              `json:"freedom"`
	Probability float64          `json:"probability"`
	Functions   []profiles.Share `json:"functions"`
}

func main() {
	top := flag.Int("top", 30, "compare the first `N` functions")
	alpha := flag.Float64("alpha", 0.001, "the least `probability` that is accepted")
	flag.Parse()
	command.Usage(flag.NArg() == 2, "sampled [-top N] [-alpha P] OURS.pb.gz THEIRS.pb.gz")
	r := command.Must(compare(flag.Arg(0), flag.Arg(1), *top))
	text := command.Must(json.Marshal(r)) // it fails for NaN: a profile without samples
	fmt.Println(string(text))
	command.End(r.Probability >= *alpha, nil)
}

func compare(ours, theirs string, top int) (*result, error) {
	a, _, err := profiles.Read(ours, false)
	if err != nil {
		return nil, err
	}
	b, _, err := profiles.Read(theirs, false)
	if err != nil {
		return nil, err
	}
	shares := profiles.Flat(a, b)
	if len(shares) > top {
		rest := profiles.Share{Function: "(others)"}
		for _, s := range shares[top:] {
			rest.Ours += s.Ours
			rest.Theirs += s.Theirs
		}
		shares = append(shares[:top:top], rest)
	}
	r := &result{Functions: shares}
	for _, s := range shares {
		r.Ours += s.Ours
		r.Theirs += s.Theirs
	}
	r.Statistic, r.Freedom, r.Probability = profiles.ChiSquare(shares)
	return r, nil
}
