// Command caddy is Caddy with the modules that the tests need, as its documentation says to build it
// with modules of one's own: the whole of them takes minutes to compile.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

func main() { caddycmd.Main() }
