# The target plugins, whose plugins cgo links; read after lib.sh.

build_plugins() # GO FOLDER
(
	go="env GOTOOLCHAIN=$1 ${GO:-go}"
	export CGO_ENABLED=1
	mkdir -p "$2" && cd selftests/targets || exit 1
	$go build -buildvcs=false -o "$2/plugins" ./plugins || exit 1
	for name in first second; do
		$go build -buildvcs=false -buildmode=plugin -o "$2/$name.so" ./plugins/$name &&
			$go build -buildvcs=false -buildmode=plugin "-ldflags=-s -w" -o "$2/$name-stripped.so" ./plugins/$name || exit 1
	done
)
