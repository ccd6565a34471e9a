"""Echo requests from the kernel of a namespace, which finds the way and the MAC itself.

Run as a program in it: addresses, then how many requests, then the bytes of each payload.
"""

import os
import socket
import sys

# Each answer is waited for as long: the machine may be busy.
PATIENCE_S = 60.0
# By the version: the socket, the request's type, and the answer's.
KINDS = {
    4: (socket.AF_INET, socket.IPPROTO_ICMP, 8, 0),
    6: (socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, 129),
}


def ones_complement(message: bytes) -> int:
    """RFC 1071's checksum."""
    total = sum(int.from_bytes(message[at : at + 2]) for at in range(0, len(message), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ping(address: str, count: int, payload_bytes: int) -> int:
    """How many of the requests were answered, whole."""
    family, protocol, request, reply = KINDS[6 if ":" in address else 4]
    payload = bytes(at % 251 for at in range(payload_bytes))
    answered = 0
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        raw.settimeout(PATIENCE_S)
        for number in range(count):
            rest = os.getpid().to_bytes(4)[2:] + number.to_bytes(2) + payload
            message = bytes((request, 0, 0, 0)) + rest
            # Of ICMPv6 the kernel writes it.
            raw.sendto(
                message[:2] + ones_complement(message).to_bytes(2) + message[4:], (address, 0)
            )
            answered += _answer(raw, family, reply, rest[:4]) == rest
    return answered


def _answer(raw: socket.socket, family: int, reply: int, identity: bytes) -> bytes | None:
    """The rest of the reply to the request of that identifier and number."""
    while True:
        try:
            packet, _ = raw.recvfrom(65536)
        except TimeoutError:
            return None
        message = packet[(packet[0] & 15) * 4 :] if family == socket.AF_INET else packet
        if message[0] == reply and message[4:8] == identity:
            # A raw ICMP socket gets the checksum as it came; of ICMPv6 the kernel has looked.
            whole = (
                family == socket.AF_INET6 or ones_complement(message + bytes(len(message) % 2)) == 0
            )
            return message[4:] if whole else None


if __name__ == "__main__":
    *addresses, count, size = sys.argv[1:]
    for each in addresses:
        print(each, ping(each, int(count), int(size)))
