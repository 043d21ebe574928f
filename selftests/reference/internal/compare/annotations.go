package compare

// This file compares user annotations: per goroutine the same tasks, regions and logs, in the same
// order, with the same texts and stacks.

import (
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// annotationKey is an annotation without time and place. For the end of a task, type and parent are
// those that the reader remembers from its start, which may lie before the runtime's window.
type annotationKey struct {
	kind          trace.EventKind
	task, parent  uint64
	name, message int32
}

func keyOf(a *tracefile.Annotation) annotationKey {
	if a.Kind == trace.EventTaskEnd {
		return annotationKey{kind: a.Kind, task: a.Task}
	}
	return annotationKey{a.Kind, a.Task, a.Parent, a.Name, a.Message}
}

func annotationsOf(t *tracefile.Trace, from, to int64) map[int64][]*tracefile.Annotation {
	out := map[int64][]*tracefile.Annotation{}
	for i := range t.Annotations {
		if a := &t.Annotations[i]; a.Time >= from && a.Time <= to {
			out[a.G] = append(out[a.G], a)
		}
	}
	return out
}

// pending reports whether the first of ours is one that the goroutine had begun when the truth ended: it
// is after all of the goroutine's annotations in the truth, and the goroutine's next one is after the end.
// Its thread may have lost its CPU between the probe and the tracer for any time until then.
func (c *comparer) pending(truth, ours []*tracefile.Annotation) bool {
	return (len(truth) == 0 || truth[len(truth)-1].Time < ours[0].Time) &&
		(len(ours) == 1 || ours[1].Time > c.truth.End)
}

func (c *comparer) annotations() {
	truth := annotationsOf(c.truth, c.truth.Start, c.truth.End)
	ours := annotationsOf(c.ours, c.from, c.to)
	numbers := map[annotationKey]uint64{}
	numbered := func(list []*tracefile.Annotation) []item {
		out := make([]item, len(list))
		for i, a := range list {
			key := keyOf(a)
			if numbers[key] == 0 {
				numbers[key] = uint64(len(numbers) + 1)
			}
			out[i] = item{numbers[key], a.Time}
		}
		return out
	}
	for g := range ours {
		if truth[g] == nil {
			truth[g] = nil // so that goroutines only in ours are compared, too
		}
	}
	for g, t := range truth {
		o := ours[g]
		for _, pair := range align(numbered(t), numbered(o)) {
			switch {
			case pair.t < 0:
				if c.inside(o[pair.o].Time) && !c.pending(t, o[pair.o:]) {
					c.report.AnnotationsExtra++
				}
			case c.inside(t[pair.t].Time):
				c.report.Annotations.add(pair.o >= 0)
				if pair.o >= 0 {
					c.report.AnnotationStacks.add(t[pair.t].Stack == o[pair.o].Stack)
				}
			}
		}
	}
}
