# Traces of many hosts, and Spark for their tables; read after lib.sh and programs.lib.sh.

FLEET_HOSTS_AT=(1 10 100) # numbers of files of which queries are timed

# Programs that trace themselves, and the option that makes their traces longer: its first value, in its unit
FLEET_MIX=("pingpong 300 ms -rate 1000000 -duration" "requests 500 - -n" "selftrace 500 ms -churn 20 -duration"
	"pair 500 - -requests" "pingpong 300 ms -rate 200000 -deeper 5 -duration" "tasked 2000 - -n"
	"selftrace 500 ms -churn 2 -heap 8 -duration" "many 100 ms -rate 2000000 -duration" "mirrored 200 - -n")

declare -A FLEET_SCALE # bytes of a trace with the first value, by program and version

# FILE GO PROGRAM VALUE UNIT ARGUMENT...
fleet_program()
{
	local file=$1 go=$2 program=$3 value=$4 unit=$5
	shift 5

	[ "$unit" != - ] || unit=
	command timeout 900 "build/targets/$go/$program" -trace "$file.partial" "$@" "$value$unit" </dev/null >/dev/null &&
		mv "$file.partial" "$file"
}

# FILE I BYTES: the trace of the I-th host; the size is approximate
fleet_trace()
{
	local file=$1 i=$2 bytes=$3 gos arguments program value unit go key
	read -r -a gos <<<"$TARGET_GOS"

	read -r program value unit arguments <<<"${FLEET_MIX[i % ${#FLEET_MIX[@]}]}"
	go=${gos[i / ${#FLEET_MIX[@]} % ${#gos[@]}]}
	key="$go $program $arguments"
	# word splitting is intended
	if [ -z "${FLEET_SCALE[$key]-}" ]; then
		fleet_program "$file" "$go" "$program" "$value" "$unit" $arguments || return 1
		FLEET_SCALE[$key]=$(stat -c %s "$file")
	fi
	# sizes from 0.7 to 1.3 times the wanted one
	value=$((value * bytes * (70 + i * 37 % 61) / (100 * FLEET_SCALE[$key])))
	fleet_program "$file" "$go" "$program" $((value ? value : 1)) "$unit" $arguments
}

fleet_host() { printf 'h%03d' "$1"; } # I

# DIR FILES BYTES FIRST: every second trace, from that one
make_half()
{
	local i folder program

	for ((i = $4; i < $2; i += 2)); do
		read -r program _ <<<"${FLEET_MIX[i % ${#FLEET_MIX[@]}]}"
		folder=$1/host=$(fleet_host "$i")/service=$program
		mkdir -p "$folder" && { [ -s "$folder/$i.trace" ] || fleet_trace "$folder/$i.trace" "$i" $(($3 / $2)); } ||
			return 1
	done
}

# DIR FILES BYTES: traces of FILES hosts, of BYTES in all, as `gotrace ship` stores them. Those that exist are kept.
make_fleet()
{
	local half status

	make_half "$@" 1 &
	half=$!
	make_half "$@" 0
	status=$?
	wait $half && return $status
}
