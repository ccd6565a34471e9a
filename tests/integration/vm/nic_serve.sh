# The guest's only shell, on the host's file system: runs each /shared/NAME.sh that it finds there,
# at once and next to the others. Output goes to NAME.out, and, when it has ended, its exit status
# to NAME.status. It writes to the file alive that it is.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /shared
: >up
(while :; do date >alive && sleep 5; done) &
while :; do
    for script in *.sh; do
        [ -e "$script" ] || continue
        name=${script%.sh}
        mv "$script" "$name.running"
        (
            sh "$name.running" >"$name.out" 2>&1 </dev/null
            echo $? >"$name.ended"
            # Whole, or not there.
            mv "$name.ended" "$name.status"
        ) &
    done
    sleep 0.1
done
