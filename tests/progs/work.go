// work MS: computes for so long in goroutines that wait for each other, with garbage, maps and assembly.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type node struct {
	left, right *node
	key         int
}

//go:noinline
func insert(n *node, key int) *node {
	if n == nil {
		return &node{key: key}
	}
	if key < n.key {
		n.left = insert(n.left, key)
	} else {
		n.right = insert(n.right, key)
	}
	return n
}

//go:noinline
func tree(seed int) {
	var root *node
	for i := 0; i < 2000; i++ {
		seed = seed*1103515245 + 12345
		root = insert(root, seed>>8&0xffff)
	}
}

//go:noinline
func digest(text []byte) byte {
	return sha256.Sum256(text)[0]
}

//go:noinline
func words(n int) int {
	var s []string
	m := map[string]int{}
	for i := 0; i < n; i++ {
		w := strconv.Itoa(i * 7919 % 1000)
		s = append(s, w)
		m[w]++
	}
	sort.Strings(s)
	return len(m) + strings.Count(strings.Join(s, " "), "7")
}

func worker(end time.Time, wg *sync.WaitGroup, c chan int) {
	defer wg.Done()
	text := make([]byte, 1<<12)
	for n := 0; time.Now().Before(end); n++ {
		tree(n)
		for i := 0; i < 16; i++ {
			text[0] = digest(text)
		}
		words(500)
		c <- n
	}
}

func main() {
	ms, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(ms) * time.Millisecond)
	var wg sync.WaitGroup
	c := make(chan int, 4)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go worker(end, &wg, c)
	}
	go func() { wg.Wait(); close(c) }()
	sum := 0
	for n := range c {
		sum += n
	}
	fmt.Println(sum > 0)
}
