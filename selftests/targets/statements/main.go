// Statements executes SQL statements by a driver of its own, which has no database: statements of
// package statements, and those that a driver refuses, repeats or panics in.
//
//	statements [-n ROUNDS] [-clients N] [-names N]
//
// It speaks the handshake of package protocol. The done line is {"requests":{NAME:{"ok":N,"error":N}}},
// as the program has counted the calls. -names: execute so many different statements instead.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/statements"
)

type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return &conn{}, nil }
func (connector) Driver() driver.Driver                        { return nil }

// conn answers a statement with the word "bad" once by driver.ErrBadConn.
type conn struct{ used bool }

func (c *conn) Begin() (driver.Tx, error)                 { return c, nil }
func (c *conn) Commit() error                             { return nil }
func (c *conn) Rollback() error                           { return nil }
func (c *conn) Close() error                              { return nil }
func (c *conn) Prepare(query string) (driver.Stmt, error) { return &stmt{c, query}, nil }

func (c *conn) answer(query string) error {
	switch {
	case strings.Contains(query, "missing"):
		return errors.New("no such table")
	case strings.Contains(query, "bad"):
		return driver.ErrBadConn
	case strings.Contains(query, "panics"):
		panic("in the driver")
	case strings.Contains(query, "skipped"):
		return driver.ErrSkip
	}
	return nil
}

func (c *conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if err := c.answer(query); err != nil {
		return nil, err
	}
	return &rows{n: 3}, nil
}

func (c *conn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), c.answer(query)
}

type stmt struct {
	c     *conn
	query string
}

func (s *stmt) Close() error                               { return nil }
func (s *stmt) NumInput() int                              { return -1 }
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return driver.RowsAffected(1), nil }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return &rows{n: 3}, nil }

type rows struct{ n int }

func (r *rows) Columns() []string { return []string{"a"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.n--; r.n < 0 {
		return io.EOF
	}
	dest[0] = int64(r.n)
	return nil
}

// unusual executes what only this driver can answer.
func unusual(c *statements.Counter, db *sql.DB) {
	for _, what := range []string{"bad", "skipped"} {
		_, err := db.Exec("DELETE FROM " + what + " WHERE a = 17")
		c.Call("DELETE FROM "+what+" WHERE a = ?", err)
		rows, err := db.Query("SELECT a FROM " + what + " WHERE a = 17")
		if err == nil {
			rows.Close()
		}
		c.Call("SELECT a FROM "+what+" WHERE a = ?", err)
	}
	func() {
		defer func() { recover() }()
		c.Call("SELECT panics()", nil)
		db.Query("SELECT panics()")
	}()
	// one in the other, on one goroutine, while its rows are read
	rows, err := db.Query("SELECT a FROM outside")
	c.Call("SELECT a FROM outside", err)
	for err == nil && rows.Next() {
		_, err := db.Exec("DELETE FROM inside WHERE a = 1.5e-3")
		c.Call("DELETE FROM inside WHERE a = ?", err)
	}
}

// crowded waits in vain for the only connection.
func crowded(c *statements.Counter) {
	db := sql.OpenDB(connector{})
	defer db.Close()
	db.SetMaxOpenConns(1)
	only := protocol.Must(db.Conn(context.Background()))
	defer only.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err := db.ExecContext(ctx, "DELETE FROM crowded")
	c.Call("DELETE FROM crowded", err)
}

func client(c *statements.Counter, db *sql.DB, rounds int) {
	for i := 0; i < rounds; i++ {
		protocol.Check(c.Round(db, i))
		unusual(c, db)
	}
	crowded(c)
}

func main() {
	rounds := flag.Int("n", 20, "how many times each client executes all statements")
	clients := flag.Int("clients", 4, "how many goroutines execute statements")
	names := flag.Int("names", 0, "instead: how many different statements to execute")
	flag.Parse()

	db := sql.OpenDB(connector{})
	c := &statements.Counter{}
	protocol.Ready()
	var group sync.WaitGroup
	for i := 0; i < *clients && *names == 0; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client(c, db, *rounds)
		}()
	}
	group.Wait()
	for i := 0; i < *names; i++ {
		name := fmt.Sprintf("DELETE FROM t%d", i)
		_, err := db.Exec(name)
		c.Call(name, err)
	}
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks
	protocol.Done(map[string]any{"requests": c.Result()})
}
