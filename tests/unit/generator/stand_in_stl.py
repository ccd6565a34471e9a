"""What `trex.stl.api` is to the driver: its calls, its names, its forms; no TRex behind it.

Port 0 loses a tenth of its frames and gets one of them back; port 1 loses none. Of the timed
frames two are out of order and three come twice. At 4000 pps it cannot keep up: its clock runs at
a quarter of the speed, as that of a TRex whose CPU is taken away. At 3000 pps it says nothing while
it sends, and for a while after.
"""

import json
import pathlib
import time

CALLS = pathlib.Path(__file__).parents[5] / "calls"
STLStreamDstMAC_PKT = 1


class STLError(Exception):
    pass


def note(*call):
    with CALLS.open("a") as calls:
        calls.write(json.dumps(call) + "\n")
    # The library prints, and what it prints is no answer.
    print("library:", *call)


class Made:
    def __init__(self, *given, **named):
        self.given = given
        self.__dict__.update(named)


class STLTXCont(Made):
    def __init__(self, pps=None, percentage=None):
        if pps == 13:
            raise STLError("13 is unlucky")
        # Of a port of 10,000 pps.
        self.pps = 100 * percentage if pps is None else pps


STLPktBuilder = STLScVmRaw = STLStream = STLVmFlowVar = STLVmWrFlowVar = STLVmFixIpv4 = Made
STLFlowStats = type("STLFlowStats", (Made,), {"timed": False})
STLFlowLatencyStats = type("STLFlowLatencyStats", (Made,), {"timed": True})


class STLClient:
    def __init__(self, username, server, sync_port, async_port, verbose_level, **_timeouts):
        self.where = (server, sync_port, async_port)
        self.streams = []
        self.began_s = self.ended_s = 0.0
        self.duration_s = 0.0
        self.slowness = 1

    def connect(self):
        note("connect", *self.where)
        while self.where[0] == "silent":
            time.sleep(1)

    def get_all_ports(self):
        return [0, 1]

    def acquire(self, ports, force):
        note("acquire", ports, force)

    def remove_all_streams(self, ports):
        self.streams = []

    def get_port_info(self, ports):
        return [
            {"index": port, "driver": "net_x", "hw_mac": f"02:00:00:00:00:0{port}", "link": "UP"}
            for port in ports
        ]

    def get_server_version(self):
        return {"version": "v9.99"}

    def add_streams(self, streams, ports):
        self.streams += [(ports[0], stream) for stream in streams]

    def clear_stats(self, ports):
        self.began_s = 0.0

    def start(self, ports, mult, duration, force):
        note("start", ports, duration)
        slowed = any(stream.mode.pps == 4000 for _, stream in self.streams)
        self.slowness = 4 if slowed else 1
        self.began_s, self.duration_s, self.ended_s = time.monotonic(), duration, 0.0

    def is_traffic_active(self, ports):
        return (
            not self.ended_s and time.monotonic() < self.began_s + self.duration_s * self.slowness
        )

    def stop(self, ports, rx_delay_ms=None):
        note("stop", ports, rx_delay_ms)
        self.ended_s = self.ended_s or time.monotonic()

    def _sent(self, stream):
        if not self.began_s:
            return 0
        end_s = self.ended_s or time.monotonic()
        return round(stream.mode.pps * min(self.duration_s, (end_s - self.began_s) / self.slowness))

    def get_stats(self, ports):
        sent = dict.fromkeys(ports, 0)
        for port, stream in self.streams:
            sent[port] += self._sent(stream)
        return {
            port: {"opackets": sent[port], "ipackets": sent[1 - port], "ierrors": 0, "oerrors": 0}
            for port in ports
        }

    def get_pgid_stats(self, groups):
        mute = any(stream.mode.pps == 3000 for _, stream in self.streams)
        if mute and self.is_traffic_active(groups):
            time.sleep(self.duration_s + 0.3)
        flows, latency = {"global": {}}, {"global": {"old_flow": 0}}
        for port, stream in self.streams:
            sent = self._sent(stream)
            lost = sent // 10 if port == 0 else 0
            back = 1 if port == 0 and sent and not stream.flow_stats.timed else 0
            group = stream.flow_stats.pg_id
            received = {1 - port: sent - lost, port: back, "total": sent - lost + back}
            flows[group] = {
                "tx_pkts": {port: sent, 1 - port: 0, "total": sent},
                "rx_pkts": received,
            }
            if stream.flow_stats.timed and sent:
                latency[group] = {
                    "err_cntrs": {"out_of_order": 2, "dup": 3, "dropped": lost},
                    "latency": {
                        "average": 20.0,
                        "total_min": 1,
                        "total_max": 30,
                        "histogram": {20: sent - lost},
                    },
                }
        return {"flow_stats": flows, "latency": latency}

    def disconnect(self, stop_traffic, release_ports):
        note("disconnect")
