package profiles

import (
	"math"
	"math/rand"
	"testing"
)

// Critical values from tables of the distribution
func TestUpperGamma(t *testing.T) {
	for _, c := range []struct {
		freedom, statistic, probability float64
	}{
		{1, 3.841, 0.05}, {1, 10.828, 0.001}, {2, 13.816, 0.001}, {10, 3.940, 0.95}, {10, 18.307, 0.05}, {10, 29.588, 0.001},
		{30, 18.493, 0.95}, {30, 43.773, 0.05}, {30, 59.703, 0.001}, {100, 149.449, 0.001},
	} {
		if p := upperGamma(c.freedom/2, c.statistic/2); math.Abs(p-c.probability) > 0.01*c.probability {
			t.Errorf("%v degrees of freedom, %v: %v, expected %v", c.freedom, c.statistic, p, c.probability)
		}
	}
}

// drawn returns samples of both, of which one is drawn with another weight of the first function.
func drawn(random *rand.Rand, weight float64) []Share {
	shares := make([]Share, 31)
	for i := 0; i < 2000; i++ {
		shares[random.Intn(31)].Theirs++
	}
	for i := 0; i < 10000; i++ {
		if k := int(random.Float64() * (30 + weight)); k < 30 {
			shares[k+1].Ours++
		} else {
			shares[0].Ours++
		}
	}
	return shares
}

func TestChiSquare(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	rejected, found := 0, 0
	for i := 0; i < 2000; i++ {
		if _, freedom, p := ChiSquare(drawn(random, 1)); freedom != 30 {
			t.Fatal(freedom)
		} else if p < 0.05 {
			rejected++
		}
		if _, _, p := ChiSquare(drawn(random, 3)); p < 0.001 {
			found++
		}
	}
	if rejected < 60 || rejected > 140 {
		t.Errorf("%d of 2000 equal distributions are rejected at 0.05", rejected)
	}
	if found < 1900 {
		t.Errorf("only %d of 2000 different distributions are found", found)
	}
}
