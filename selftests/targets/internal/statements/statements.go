// Package statements executes SQL statements with literals in them, by all methods of database/sql that
// execute statements, and counts them by the names that `gotrace-bpf record --requests sql` must give.
package statements

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"
)

// Secret is part of each literal and comment; no trace may contain it.
const Secret = "hushhush"

// Counter has the number of calls by name and outcome ("ok", "error").
type Counter struct {
	mu    sync.Mutex
	count map[string]map[string]int
}

// Call counts a call that returned err.
func (c *Counter) Call(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]map[string]int{}
	}
	if c.count[name] == nil {
		c.count[name] = map[string]int{"ok": 0, "error": 0}
	}
	if err != nil {
		c.count[name]["error"]++
	} else {
		c.count[name]["ok"]++
	}
}

// Result is the map of the counts, once nothing is counted any more.
func (c *Counter) Result() map[string]map[string]int { return c.count }

type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return rows.Close()
}

// both executes one statement of each kind.
func (c *Counter) both(q querier, of string, i int) {
	ctx := context.Background()
	c.Call("SELECT a, b FROM "+of+" WHERE a = ? AND b <> ?", drain(q.QueryContext(ctx,
		fmt.Sprintf("SELECT a, b\n\tFROM %s -- it's %s\n WHERE a = %d AND b <> '%s''%d'", of, Secret, i, Secret, i))))
	_, err := q.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE a = ? AND b = '%s' /* %s */;", of, Secret, Secret), -i)
	c.Call("DELETE FROM "+of+" WHERE a = ? AND b = ?", err)
}

func (c *Counter) prepared(db *sql.DB) error {
	query, err := db.Prepare("SELECT b FROM prepared WHERE a > ? AND b <> '" + Secret + "'")
	if err != nil {
		return err
	}
	defer query.Close()
	c.Call("SELECT b FROM prepared WHERE a > ? AND b <> ?", drain(query.Query(1)))
	exec, err := db.Prepare("UPDATE prepared SET b = '" + Secret + "' WHERE a = ?")
	if err != nil {
		return err
	}
	defer exec.Close()
	_, err = exec.Exec(1)
	c.Call("UPDATE prepared SET b = ? WHERE a = ?", err)
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	c.both(tx, "tx", 2)
	_, err = tx.Stmt(exec).Exec(2)
	c.Call("UPDATE prepared SET b = ? WHERE a = ?", err)
	return tx.Commit()
}

// Tables are those that the statements need, with the columns a and b; "missing" must not exist.
var Tables = []string{"db", "conn", "tx", "prepared"}

// Round executes each statement once.
func (c *Counter) Round(db *sql.DB, i int) error {
	ctx := context.Background()
	var a int

	_, err := db.Exec(fmt.Sprintf("INSERT INTO db (a, b) VALUES (%d, '%s'), (%d, x'00')", i, Secret, i+1))
	c.Call("INSERT INTO db (a, b) VALUES (?, ...), (?, x?)", err)
	c.both(db, "db", i)
	err = db.QueryRow("SELECT count(*) FROM db WHERE a IN (1, 2, 3) OR b = '" + Secret + "'").Scan(&a)
	c.Call("SELECT count(*) FROM db WHERE a IN (?, ...) OR b = ?", err)
	c.Call("SELECT a FROM missing WHERE b = ?",
		drain(db.Query("SELECT a FROM missing WHERE b = '"+Secret+"'")))
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	c.both(conn, "conn", i)
	if err = conn.Close(); err != nil {
		return err
	}
	short, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	_, err = db.ExecContext(short, "DELETE FROM db -- too late")
	c.Call("DELETE FROM db", err)
	return c.prepared(db)
}
