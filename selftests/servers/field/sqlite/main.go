// Sqlite executes the statements of package statements by modernc.org/sqlite, on databases in memory.
//
//	sqlite [-n ROUNDS] [-clients N]
//
// Its protocol and result are those of selftests/targets/statements.
package main

import (
	"database/sql"
	"flag"
	"sync"
	"time"

	_ "modernc.org/sqlite"

	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/statements"
)

func open() *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		protocol.Fail(err)
	}
	db.SetMaxOpenConns(1) // each connection has a database of its own
	for _, table := range statements.Tables {
		if _, err := db.Exec("CREATE TABLE " + table + " (a INT, b TEXT)"); err != nil {
			protocol.Fail(err)
		}
	}
	return db
}

func main() {
	rounds := flag.Int("n", 100, "how many times each client executes all statements")
	clients := flag.Int("clients", 4, "how many goroutines execute statements")
	flag.Parse()

	dbs := make([]*sql.DB, *clients)
	for i := range dbs {
		dbs[i] = open()
	}
	c := &statements.Counter{}
	protocol.Ready()
	var group sync.WaitGroup
	for _, db := range dbs {
		group.Add(1)
		go func(db *sql.DB) {
			defer group.Done()
			for i := 0; i < *rounds; i++ {
				if err := c.Round(db, i); err != nil {
					protocol.Fail(err)
				}
			}
		}(db)
	}
	group.Wait()
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks
	protocol.Done(map[string]any{"requests": c.Result()})
}
