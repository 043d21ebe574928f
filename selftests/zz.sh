. "$(dirname "$0")/lib.sh"
. selftests/record.lib.sh
ktap_start
for i in $(seq 1 ${1-20}); do
record_target truth go1.24.9 "-v" || echo FAILED
e=$(stat_of events $tmp/truth.json); 
if [ "$e" -lt 20000 ]; then echo "BAD run $i"; cat $tmp/background.out $tmp/truth.json; cp $tmp/truth.trace /tmp/gt/bad.trace; break; fi
done; echo runs $i
ktap_end
