# shellcheck shell=bash
# For scripts that work in a Debian of their own: $suite in the folder $folder.

certificates=etc/ssl/certs/ca-certificates.crt

in_chroot() {
    local settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
    chroot "$folder" env -i "${settings[@]}" "$@"
}

# make_root VARIANT [PACKAGES]: mmdebstrap's variant, and packages separated by commas.
make_root() {
    [ -e "$folder/$certificates" ] && return
    mkdir -p "$(dirname "$folder")"
    # Made aside: a root that was cut short must not be taken for one.
    mmdebstrap --quiet --variant="$1" --include="ca-certificates${2:+,$2}" \
        "$suite" "$folder.new" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
    rm -rf -- "$folder"
    mv -T "$folder.new" "$folder"
}

# The network as this machine has it, a company's own certificates included.
lend_network() {
    cp /etc/resolv.conf "$folder/etc/resolv.conf"
    cp "/$certificates" "$folder/$certificates"
}

# in_own_mounts ARGUMENT…: start this script anew, with what it mounts gone at its end.
in_own_mounts() {
    [ "${PLIMSOLL_UNSHARED:-}" != yes ] || return 0
    [ "$(id -u)" -eq 0 ] || { echo "plimsoll: a chroot needs root" >&2; exit 1; }
    command -v mmdebstrap >/dev/null || { echo "plimsoll: mmdebstrap is missing" >&2; exit 1; }
    PLIMSOLL_UNSHARED=yes exec unshare --mount --propagation private "$0" "$@"
}
