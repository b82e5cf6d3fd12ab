package alias

// pointers are the elements that e may be; pointersAndContents also those that may be in it.
func pointers(e *element) [2][]*element { return [2][]*element{e.pointsTo.to} }
func pointersAndContents(e *element) [2][]*element {
	return [2][]*element{e.pointsTo.to, e.contains.to}
}

// closure returns for each element, by its index, what own adds for it and for all elements that next leads to, to any depth. It visits every edge
// once: elements that lead to each other have one set (Tarjan's strongly connected components), and one that adds nothing and leads to a single
// other shares the other's.
func closure(all []*element, next func(*element) [2][]*element, own func(*element, *set)) []set {
	c := &closing{next: next, own: own, number: make([]int, len(all)), lowest: make([]int, len(all)), sets: make([]set, len(all))}
	for _, e := range all {
		if c.number[e.index] == 0 {
			c.visit(e)
		}
	}
	return c.sets
}

// closing is the state of a closure.
type closing struct {
	next    func(*element) [2][]*element
	own     func(*element, *set)
	visited int
	number  []int // in the order of visits from 1 on; done for those whose sets are known
	lowest  []int // the lowest number of an element that is open and reached
	open    []*element
	sets    []set
}

const done = int(^uint(0) >> 1)

func (c *closing) visit(e *element) {
	c.visited++
	c.number[e.index], c.lowest[e.index] = c.visited, c.visited
	c.open = append(c.open, e)
	for _, edges := range c.next(e) {
		for _, to := range edges {
			if c.number[to.index] == 0 {
				c.visit(to)
			}
			if c.number[to.index] != done {
				c.lowest[e.index] = min(c.lowest[e.index], c.lowest[to.index])
			}
		}
	}
	if c.lowest[e.index] == c.number[e.index] {
		c.finish(e)
	}
}

// finish gives the elements that are open from e on, which lead to each other, their set.
func (c *closing) finish(e *element) {
	first := len(c.open) - 1
	for c.open[first] != e {
		first--
	}
	members := c.open[first:]
	var s set
	shared := -1 // the only element that the members lead to, while s has nothing
	for _, m := range members {
		c.own(m, &s)
		for _, edges := range c.next(m) {
			for _, to := range edges {
				switch {
				case c.number[to.index] != done || to.index == shared:
				case len(members) == 1 && shared < 0 && s.empty():
					shared = to.index
				default:
					if shared >= 0 {
						s.union(c.sets[shared])
						shared = -1
					}
					s.union(c.sets[to.index])
				}
			}
		}
	}
	if shared >= 0 {
		s = c.sets[shared]
	}
	for _, m := range members {
		c.sets[m.index], c.number[m.index] = s, done
	}
	c.open = c.open[:first]
}
