"""What each property of the published schemas is: what is counted, where and when, its unit.

A property that means the same in every model has one entry by its own name; "Model.field" is
for one model alone and comes first. The models say how their fields belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Here rather than at each field, because results of many methods share most of them.
FIELDS: Mapping[str, str] = {
    # Of every result.
    "method": "What was run; the name of the plimsoll command, or load-line for plimsoll run.",
    "run_id": "The run directory's name.",
    "name": "The experiment's name.",
    "versions": "Versions by component (plimsoll, engine, DPDK, Python); null of one not used.",
    "trials": "How many trials the run had, by how they ended and by phase.",
    "invalid_reasons": "What made trials invalid, the most frequent first.",
    "notes": "Remarks on how to read the numbers.",
    "quick": "Whether the shortened preset (--quick) was used.",
    "shortfalls": "Where durations and counts are below those of the standard.",
    "reason": "Why there is no figure, in words; null where there is one.",
    "media": "What carries the frames: the kind of lab and its ports.",
    "traffic": "Protocol and format of the streams, in words.",
    "criteria": "The criteria that were applied, as the experiment has them, with all defaults.",
    "ended": "Why it ended: its duration was over, a failure, a signal, a link that went; "
    "unfinished where a kill left it.",
    "dut_agreement": "Whether the DUT's counters agree with the tester's; null where it has none.",
    "directions": "How many directions carried load.",
    # Times and places that mean the same everywhere.
    "trial": "The number of the trial in the run's journal.",
    "begin_unix_ns": "When its first frame was due: UTC, in ns since 1970.",
    "sending_s": "How long frames were sent, in s; the drain afterwards is not counted.",
    "gap_s": "Time without traffic since the segment before ended, in s; 0 of the first, and where "
    "a clock set back before another boot leaves it unknown.",
    "requested_s": "The duration requested, in s.",
    "verdict": "pass; fail: the DUT broke a criterion; invalid: the tester could not tell; "
    "none: not judged.",
    "reasons": "The findings that made it fail or invalid.",
    "load_pps": "Load per direction, in frames per second, as it was requested of the tester.",
    "cpu": "The CPU, as the kernel numbers it.",
    "role": "load, or latency for a probe stream that is only there to be timed.",
    "tx_port": "The tester's port that sends the stream, from 0.",
    "rx_port": "The tester's port on which the stream is to come back, from 0.",
    "streams": "One entry for each stream.",
    "subject": "The frames that the row is about.",
    "limited_by": "What kept the figure from being higher: the DUT, the platform, the tester, or "
    "the maximum that was searched; null without a figure.",
    # Latencies.
    "min_ns": "Least latency, in ns, exact; null without samples.",
    "mean_ns": "Mean latency, in ns, exact; null without samples.",
    "max_ns": "Greatest latency, in ns, exact; null without samples.",
    "median_ns": "Median latency, in ns; null without samples.",
    "p50_ns": "Median latency, in ns, at most 0.78 % high; null without samples.",
    "p90_ns": "90th percentile, in ns, at most 0.78 % high; null without samples.",
    "p99_ns": "99th percentile, in ns, at most 0.78 % high; null without samples.",
    "p99_9_ns": "99.9th percentile, in ns, at most 0.78 % high; null without samples.",
    "p99_99_ns": "99.99th percentile, in ns, at most 0.78 % high; null without samples.",
    "p99_999_ns": "99.999th percentile, in ns, at most 0.78 % high; null without samples.",
    "deviation_ns": "Standard deviation of the latency, in ns; null without samples.",
    "latency": "One-way latency of received frames, from the stamp at sending to the stamp at "
    "receiving; without samples that a stall of the tester may have made longer.",
    "samples_across_stalls": "Received frames whose latency a stall of the tester may have made "
    "longer; they are left out of `latency`.",
    "latency_us": "A latency stream's samples by whole microseconds, as [microseconds, frames]; "
    "the last, 1000, holds those of 1 ms and more.",
    "lateness": "How long after they were due the frames of a latency stream were sent; no samples "
    "of other streams.",
    # Frames.
    "sent": "Frames that the sending port accepted. Frames it refused are not among them, so "
    "that `sent` may equal `received` while frames were `lost`.",
    "received": "Frames of the stream that came back on its port, duplicates included, corrupt "
    "ones not; those sent in time and received during the drain count.",
    "lost": "Frames counted as lost: those sent that never came back, and, where the lab holds "
    "the DUT responsible for its queue (memif, vhost), those that `refused` counts.",
    "loss_ratio": "lost ÷ offered, a share (1 is all); offered is lost + received - duplicate. "
    "Null when nothing was offered.",
    "offered": "Frames offered to the DUT: those lost and those that came back once.",
    "stalls": "Gaps of the tester's polling loops that were longer than the trial's limit.",
    "worst_stall_ns": "The longest stall, in ns; 0 without one.",
    "stalled_share": "Time that the worst loop stalled, as a share of the time (1 is all).",
    # Trial record.
    "TrialRecord.number": "Unique in the run, from 1; a trial that was cut short keeps its own.",
    "TrialRecord.phase": "What the trial was for: calibration, warmup, ceiling, search, "
    "validation, soak, single and so on.",
    "TrialRecord.attempt": "Which trial in a row at this load it is, from 1; an invalid one is "
    "repeated.",
    "TrialRecord.planned_s": "How long it was to send, in s.",
    "TrialRecord.ended_by": "duration; stop: ended early by a verdict or a signal; losses: "
    "ended early by the generator, with more lost than may be; link_down: a link went; "
    "streams: its last stream ended.",
    "TrialRecord.findings": "What each rule found, kept or broken.",
    "TrialRecord.ports": "The tester's ports.",
    "TrialRecord.workers": "The tester's polling loops.",
    "TrialRecord.dut": "The DUT's own counters by port over the trial; null where it has none.",
    "TrialRecord.goal": "The goal of the search by whose criteria the verdict is; null outside "
    "of a search of several goals.",
    "TrialRecord.goals": "The verdict by each goal's criteria, by the goal's name.",
    "TrialRecord.repetition": "How often the same was run to see whether it repeats, from 1.",
    "TrialRecord.step": "The part of a standard test it belongs to; null elsewhere.",
    "TrialRecord.evidence": "Losses by second, latency peaks and growth; null where unmeasured.",
    "TrialRecord.observed": "What a standard test looked for, by names that end in their unit.",
    "TrialRecord.hosts": "How the observer of each host fared.",
    "TrialRecord.schedule": "Who had the polled CPUs; null where nothing polls or is counted.",
    "StreamRecord.stream": "The stream's number in the trial, from 0.",
    "StreamRecord.name": "The stream's name in the profile, with its direction where it has two.",
    "StreamRecord.frame_sizes": "Its frame sizes with their shares.",
    "StreamRecord.mean_frame_size": "Mean frame size with FCS, in bytes.",
    "StreamRecord.pacing": "How its frames follow each other: constant, bursts, Poisson, as "
    "captured, back-to-back, one in flight.",
    "StreamRecord.planned_pps": "The rate that was planned, in frames per second; null where the "
    "pacing has none.",
    "StreamRecord.refused": "Frames offered in time that the port's queue had no room for; not "
    "tried again, and not in `sent`. Whose fault that is depends on who empties the queue.",
    "StreamRecord.skipped": "Frames never offered, because the tester was too late for them.",
    "StreamRecord.no_buffer": "Frames never offered, because the tester had no buffer free.",
    "StreamRecord.timed_out": "One-in-flight frames given up on; one that still comes back is in "
    "`received`.",
    "StreamRecord.out_of_order": "Frames received after one of the stream that was sent later.",
    "StreamRecord.duplicate": "Frames received once more; they are in `received`, too.",
    "StreamRecord.corrupt": "Frames of the stream received with a signature that its checksum "
    "does not fit; they are not in `received`, so they are lost, too.",
    "StreamRecord.misdirected": "Frames of the stream received on another port than its own.",
    "FrameSizeRecord.size": "Frame size with FCS, in bytes.",
    "FrameSizeRecord.weight": "Share of the stream's frames, relative to the other sizes.",
    "LatencyRecord.count": "Samples: received frames that are in the figures.",
    "PortRecord.port": "The tester's port, from 0.",
    "PortRecord.foreign": "Frames received without the tester's signature.",
    "PortRecord.foreign_kinds": "The same by kind (ARP, LLDP, …); adds up to `foreign`.",
    "PortRecord.stale": "Whole frames of the tester received that belong to another trial or run.",
    "PortRecord.truncated": "Frames received without the tester's signature that were cut short: "
    "their IP packet says that it is longer. Among them may be frames of the trial.",
    "PortRecord.rx_missed": "The driver's count of frames that its receive queue had no room for.",
    "PortRecord.rx_errors": "The driver's count of frames received with errors.",
    "ResolvedRecord.port": "The tester's port on whose wire it is.",
    "PortRecord.host": "Frames to and from the tester's own host there (arp, nd, echo, heard, "
    "answered, moved), which are not foreign; empty where it is none.",
    "PortRecord.rx_no_mbuf": "The driver's count of frames for which no buffer was free.",
    "PortRecord.buffers_in_use": "Buffers of the port's pools in use when the trial ended.",
    "WorkerRecord.polls": "Turns of the polling loop.",
    "WorkerRecord.idle_polls": "Turns in which it neither sent nor received.",
    "WorkerRecord.stalled_ns": "Length of all its stalls together, in ns.",
    "WorkerRecord.gaps": "Lengths of its gaps of more than 1 µs between two looks at the clock.",
    "WorkerRecord.cycles": "Time stamp counter ticks by step of the loop, of sampled bursts.",
    "WorkerRecord.longest": "The longest stalls with their times, the longest first.",
    "CycleBudgetRecord.build": "Making frames: schedule, buffers, fields.",
    "CycleBudgetRecord.send": "Handing them to the port.",
    "CycleBudgetRecord.poll": "Asking the port for frames.",
    "CycleBudgetRecord.measure": "Looking at received frames and counting them.",
    "CyclesRecord.ticks": "Time stamp counter ticks.",
    "CyclesRecord.frames": "Frames handled in that time.",
    "StallRecord.at_s": "When it ended, in s since the trial's first frame.",
    "StallRecord.tsc": "The time stamp counter when it ended.",
    "StallRecord.length_ns": "Its length, in ns.",
    "DutPortRecord.port": "The DUT's port, as the DUT numbers it.",
    "DutPortRecord.rx_frames": "Frames it received during the trial, by its own count.",
    "DutPortRecord.tx_frames": "Frames it sent during the trial, by its own count.",
    "DutPortRecord.rx_missed": "Frames its receive queue had no room for, by its own count.",
    "DutPortRecord.rx_errors": "Frames it received with errors, by its own count.",
    "DutPortRecord.tx_errors": "Frames it failed to send, by its own count.",
    "DutPortRecord.rx_no_mbuf": "Frames for which it had no buffer, by its own count.",
    "FindingRecord.rule": "The criterion or the tester's own rule.",
    "FindingRecord.subject": "What it was applied to: a stream, a port, a CPU, the trial.",
    "FindingRecord.value": "What was measured, in `unit`; null where it could not be.",
    "FindingRecord.limit": "The bound, in `unit`; null where the rule has none.",
    "FindingRecord.unit": "The unit of value and limit; a ratio is a share (1 is all).",
    "FindingRecord.outcome": "ok, fail, or invalid where the tester could not tell.",
    "FindingRecord.text": "The same as a sentence.",
    "GoalVerdict.rules": "The rules that made it fail or invalid.",
    "HostReadings.hostname": "The host, as environment.json and its metrics call it.",
    "HostReadings.readings": "How often it was read in the trial.",
    "HostReadings.skipped": "Readings left out because the observer did not get its CPU in time.",
    "HostReadings.cpu_s": "CPU time that observing took on that host, in s.",
    "HostReadings.lost": "By observer that stopped during the trial: the reason.",
    "HostReadings.ended": "Where the observing process was lost: when and why; null otherwise.",
    "ObserverEnd.period": "The period in which it was lost; null before the first.",
    "ObserverEnd.why": "Why, in words.",
    "TrialEvidence.intervals": "How many intervals of the trial were looked at.",
    "TrialEvidence.offered": "Frames offered in all directions.",
    "TrialEvidence.lost": "Frames lost in all directions, without what the tester's stalls "
    "explain.",
    "TrialEvidence.loss_ratio": "Loss of the worst direction, a share (1 is all), without what "
    "the tester's stalls explain.",
    "TrialEvidence.forwarded_pps": "Frames per second that came back, per direction, of the "
    "direction with least.",
    "TrialEvidence.first_loss_s": "When the first frame was lost, in s since the first frame.",
    "TrialEvidence.lossy_intervals": "Intervals in which frames were lost.",
    "TrialEvidence.losses": "Intervals with losses by time; at most 256.",
    "TrialEvidence.latency_growth": "Median slope of the intervals' median latency, in ns per s.",
    "TrialEvidence.peaks": "The largest latency peaks; at most 64.",
    "TrialEvidence.offered_pps": "Load per direction that the tester reached, in frames per "
    "second, by the stream that was offered the least part of what was due.",
    "LatencyPeak.at_s": "The interval, in s since the trial's first frame.",
    "LossSample.begin_s": "Where the interval begins, in s since the trial's first frame.",
    "LossSample.end_s": "Where it ends, in s since the trial's first frame.",
    "LossSample.frames": "Frames lost in it.",
    "ScheduleRecord.watched_s": "How long was looked at, in s.",
    "ScheduleRecord.threads": "The polling loops.",
    "ScheduleRecord.others": "Other processes on the polled CPUs, by their time.",
    "PollingThreadRecord.process": "tester, or the DUT's program.",
    "PollingThreadRecord.pid": "Its process, as the kernel numbers it.",
    "PollingThreadRecord.tid": "Its thread, as the kernel numbers it.",
    "PollingThreadRecord.wait_ns": "Time that it was ready to run and waited for its CPU, in ns.",
    "run_ns": "Time that it ran, in ns.",
    "PollingThreadRecord.slices": "How often it was put on a CPU.",
    "PollingThreadRecord.involuntary_switches": "How often it was taken off its CPU.",
    "OtherProcessRecord.comm": "Its name, as the kernel has it.",
    "OtherProcessRecord.pid": "Its process, as the kernel numbers it.",
    "OtherProcessRecord.pinned": "Whether it may run on this CPU alone.",
    "OtherProcessRecord.slices": "How often it was put on a CPU; 0 where that is not counted.",
    # Result of a search.
    "load_line": "The highest load that met the criteria; null where none did.",
    "IterationResult.load_line": "The load lines of the samples together; null without any.",
    "validation": "The trial that proved the load line, or the last that did not.",
    "calibration": "What the tester adds by itself; null where it was not measured.",
    "goals": "What was found for each goal; the first is the run's.",
    "ceiling": "What the tester could offer; null where that is the maximum, or unmeasured.",
    "diagnosis": "Why the tester could not test; null where it could.",
    "platform": "What took the DUT's CPU, where that limits the load line; null otherwise.",
    "Result.unwatched": "Where absences of the DUT were not watched, why, and what to do about it, "
    "in sentences.",
    "GoalResult.name": "The goal's name in the experiment.",
    "GoalResult.proof": "The number of the trial that proved the load line; null without one.",
    "GoalResult.conditional_pps": "RFC 9971's conditional throughput per direction, in frames per "
    "second; null for strategies without one.",
    "GoalResult.irregular": "Whether the result is irregular in the sense of RFC 9971, or a lower "
    "load failed beneath a higher one that passed.",
    "GoalResult.loss_events_per_hour_below": "Bound of the rate of loss events at the load line, "
    "per hour, with 95 % confidence; null where the proof saw some.",
    "LoadLine.pps_per_direction": "The load that the heaviest direction carries, in frames per "
    "second, as its proof offered it (RFC 2285's offered load).",
    "LoadLine.total_pps": "What was offered of the load in all directions, in frames per second: "
    "of load streams, and of probes that are taken from one; probes sent in addition to the load "
    "are not counted.",
    "LoadLine.frame_sizes": "The load streams' frame sizes with FCS, in bytes.",
    "LoadLine.l1_bps_per_direction": "Bits per second with preamble and gap, of the direction "
    "with most.",
    "LoadLine.l2_bps_per_direction": "Bits per second of the frames, of the direction with most.",
    "LoadLine.percent_of_line_rate": "l1_bps_per_direction in per cent of the line rate; null "
    "where the lab has none.",
    "Validation.phase": "validation; search where no validation was requested.",
    "Validation.duration_s": "How long it sent, in s.",
    "TrialCounts.total": "All trials, calibration and warm-up included.",
    "TrialCounts.by_verdict": "How many passed, failed and were invalid.",
    "TrialCounts.by_phase": "How many were of each phase.",
    "InvalidReason.rule": "The tester's rule.",
    "InvalidReason.trials": "How many trials it made invalid.",
    "InvalidReason.example": "What it said of one of them.",
    "DutAgreement.trials_compared": "Trials in which the DUT's counters could be compared.",
    "DutAgreement.trials_agreeing": "Those in which they agree to the frame.",
    "DutAgreement.differences": "What differs, in words.",
    "TesterCeiling.intended_pps": "The search's maximum per direction, in frames per second.",
    "TesterCeiling.offered_pps": "The most that was offered per direction, in frames per second.",
    "TesterDiagnosis.sentences": "What stood in the tester's way, the weightiest first.",
    "TesterDiagnosis.remedy": "What to do about it.",
    "TesterCalibration.how": "How the points were taken.",
    "TesterCalibration.points": "One point for each load.",
    "TesterCalibration.taken_in": "The run of the same matrix that took it; null for its own.",
    "CalibrationPoint.name": "What the point is of.",
    "CalibrationPoint.sent_pps": "Mean of what a direction sent, in frames per second.",
    "CalibrationPoint.reached": "Share (1 is all) of its planned frames that the worst stream "
    "sent.",
    # Soak and windows.
    "load": "The load as the user wrote it.",
    "sent_s": "How long frames were sent in all, in s.",
    "windows": "The windows: each, or how many ended how.",
    "SoakSegment.windows": "How many windows the segment had.",
    "segments": "The trials of the run; one more for each time that it was resumed.",
    "losses": "Losses that no stall of the tester explains.",
    "drift": "How series moved from the start to the end.",
    "spikes": "Latencies far above what is usual.",
    "tester": "The tester's own stalls.",
    "SeriesDrift.of": "What it is the series of.",
    "SeriesDrift.kind": "Which figure of it.",
    "SeriesDrift.unit": "The unit of `first`, `last` and, per hour, the slopes.",
    "SeriesDrift.span_s": "How much of either end `first` and `last` are the medians of, in s.",
    "SeriesDrift.first": "Median of the start.",
    "SeriesDrift.last": "Median of the end.",
    "SeriesDrift.slope_per_hour": "Slope per hour, by Theil and Sen.",
    "SeriesDrift.slope_low": "Lower end of its 95 % interval, per hour.",
    "SeriesDrift.slope_high": "Upper end of its 95 % interval, per hour.",
    "SeriesDrift.drifts": "Whether the series moves by more than its noise and its resolution.",
    "SeriesDrift.text": "The same as a sentence.",
    "LatencySpike.at_s": "When, in s since the soak's first frame.",
    "LatencySpike.stream": "The stream's name.",
    "LatencySpike.latency_ns": "The interval's worst latency, in ns.",
    "LatencySpike.cause": "What caused it, as far as known.",
    "SoakLossEvent.at_s": "When it began, in s since the soak's first frame.",
    "SoakLossEvent.length_s": "How long frames were lost, in s.",
    "SoakLossEvent.frames": "Frames lost in it.",
    "SoakLosses.frames": "Frames lost in all.",
    "SoakLosses.event_count": "How many loss events there were.",
    "SoakLosses.events": "The 100 largest, by time.",
    "SoakLosses.no_loss_s": "Time of all judged windows, in s, when none lost a frame; else null.",
    "SoakLosses.events_per_hour_below": "Bound of the rate of loss events, per hour, with 95 % "
    "confidence; null where there was one.",
    "SoakSpikes.factor": "How many times the usual a latency has to be to count.",
    "SoakSpikes.usual_ns": "Median of the intervals' worst latencies, in ns, by stream.",
    "SoakSpikes.counts": "How many there were, by cause.",
    "SoakSpikes.worst": "The 20 largest of each cause.",
    "SoakTester.worst_stalled_share": "The worst window's stalled share (1 is all).",
    "SoakWindows.window_s": "Length of a window, in s.",
    "SoakWindows.passed": "Windows that passed.",
    "SoakWindows.failed": "Windows that failed.",
    "SoakWindows.invalid": "Windows that the tester spoiled.",
    "SoakWindows.unjudged": "A last window, cut short: 0 or 1.",
    "SoakWindows.passed_s": "Time of the windows that passed, in s.",
    "SoakWindows.failed_s": "Time of the windows that failed, in s.",
    "SoakWindows.invalid_s": "Time of the invalid windows, in s.",
    "WindowRecord.index": "The window's number in its trial, from 1.",
    "WindowRecord.begin_s": "Where it begins, in s since the trial's first frame.",
    "WindowRecord.end_s": "Where it ends, in s since the trial's first frame.",
    "WindowRecord.lost": "Frames lost in it, without what the tester's stalls explain.",
    "WindowRecord.loss_events": "Stretches of intervals with losses, without the same.",
    "WindowRecord.losses": "The 32 largest losses, by time.",
    "WindowStream.name": "The stream's name.",
    "WindowStream.lost": "Frames found missing in the window, and, where the lab holds the DUT "
    "responsible for its queue, those refused.",
    "WindowStream.received": "Frames sent in the window that were not lost, whenever they came.",
    # Probe.
    "rate_pps": "Rate per direction, in frames per second.",
    "ProbeResult.rate_pps": "Probes per second that no direction exceeds.",
    "LatencyAtLoadResult.rate_pps": "Load per direction that is 100 %, in frames per second; null "
    "where a search found none.",
    "timeout_us": "How long a probe is waited for, in µs.",
    "probed_s": "How long was probed, in s.",
    "statistics": "Each direction over the whole run.",
    "ProbeLine.length_s": "Length of the window, in s.",
    "ProbeLine.stream": "The direction's name.",
    "timed_out": "Probes that did not come back in time; lost unless they still came.",
    "samples": "Samples that the figures are of.",
    "IterationResult.samples": "The runs of this combination.",
    "LoadLineSpread.samples": "How many load lines there are.",
    "ProbeStatistics.stream": "The direction's counts and samples.",
    "ProbeStatistics.lost": "Probes sent that never came back.",
    "ProbeStatistics.loss_ratio": "Those as a share of the probes sent (1 is all); null without.",
    "ProbedStream.name": "The direction's name.",
    "ProbedStream.sent": "Probes that the port accepted.",
    "ProbedStream.received": "Probes that came back, those after their time-out included.",
    "across_stalls": "Samples that a stall of the tester may have delayed.",
    "ProbedStream.sum_ns": "Sum of all samples, in ns.",
    "ProbeHistogram.sum_ns": "Sum of these samples, in ns.",
    "ProbeHistogram.buckets": "The histogram as [index, samples], of HdrHistogram(1, 2^37 - 1, 2).",
    "ProbedStream.buckets": "The histogram as [index, samples], of HdrHistogram(1, 2^37 - 1, 2).",
    # Standard tests.
    "latency_definition": "Which of RFC 1242's definitions the latencies follow.",
    "parts": "The tests, each with a row for each kind of frames.",
    "points": "One entry for each load.",
    "rate_from": "Where the rate of 100 % comes from.",
    "repetitions": "How often each measurement was repeated.",
    "rows": "One row for each kind of frames.",
    "Rfc2544Parts.throughput": "Section 26.1; null where it was not requested.",
    "Rfc2544Parts.latency": "Section 26.2; null where it was not requested.",
    "Rfc2544Parts.frame_loss": "Section 26.3; null where it was not requested.",
    "Rfc2544Parts.back_to_back": "Section 26.4; null where it was not requested.",
    "Rfc2544Parts.recovery": "Section 26.5; null where it was not requested.",
    "Rfc2544Parts.reset": "Section 26.6; null where it was not requested.",
    "Subject.frames": "The frames in words: 64, or imix simple.",
    "Subject.sizes": "Their sizes with FCS, in bytes.",
    "Subject.mean_frame_size": "Mean size with FCS, in bytes.",
    "Subject.maximum_pps": "What 100 % is for them per direction, in frames per second.",
    "Subject.maximum_basis": "Where that comes from.",
    "ThroughputRow.pps": "Throughput per direction, in frames per second; null where none.",
    "ThroughputRow.percent_of_maximum": "The same in per cent of the maximum for these frames.",
    "ThroughputRow.l1_bps": "The same in bits per second with preamble and gap.",
    "ThroughputRow.final_trial": "The number of the trial that proved it; null without one.",
    "ThroughputRow.final_s": "How long that trial sent, in s; null without one.",
    "ThroughputRow.trials": "How many trials it took.",
    "LatencyRow.tagged_ns": "Latencies of the tagged frames, in ns: one frame for each repetition "
    "and direction; null without any.",
    "LatencyRow.all_frames": "Latencies of all load frames in the same trials.",
    "LatencyRow.lost": "Frames that the DUT lost in these trials.",
    "LatencyRow.trials": "How many valid trials the figures are of.",
    "AllFrames.count": "Samples.",
    "FrameLossRow.points": "One entry for each rate.",
    "FrameLossRow.complete": "Whether two successive trials were free of loss, as required.",
    "percent": "The load, in per cent of the rate that is 100 %.",
    "LossPoint.offered": "Frames offered, of the worst direction; null where no trial was valid.",
    "LossPoint.lost": "Frames lost, of the worst direction; null where no trial was valid.",
    "LossPoint.loss_percent": "Those in per cent of the frames offered; null likewise.",
    "BackToBackRow.values": "The longest burst without loss of each repetition, in frames.",
    "BackToBackRow.frames": "Statistics of those, in frames; null where none was found.",
    "BackToBackRow.limit_frames": "The longest burst that was tried, in frames.",
    "BackToBackRow.limit_s": "How long that burst takes, in s.",
    "BackToBackRow.step_frames": "How far the bounds were apart at the end at most, in frames.",
    "BackToBackRow.verifications": "How often a burst that lost frames is sent again at most.",
    "BackToBackRow.at_limit": "Repetitions that lost nothing even at the limit.",
    "RecoveryRow.throughput_pps": "The throughput per direction, in frames per second.",
    "RecoveryRow.overload_pps": "The overload per direction, in frames per second.",
    "RecoveryRow.reduced_pps": "The reduced rate per direction, in frames per second.",
    "RecoveryRow.recovery_s": "From the reduction to the last lost frame, in s; null if unknown.",
    "RecoveryRow.resolution_s": "How exactly that is known, in s.",
    "RecoveryRow.not_recovered": "Repetitions that still lost frames when the watch ended.",
    "RecoveryRow.never_overloaded": "Repetitions that lost no frame even while overloaded.",
    "ResetStatement.kind": "The kind of reset.",
    "ResetStatement.outage_s": "Frames lost ÷ the rate offered, in s; null where not run.",
    "BufferRow.throughput": "The throughput of these frames.",
    "BufferRow.bursts": "Their longest bursts without loss; null where not tested.",
    "BufferRow.implied_s": "Average burst ÷ maximum frame rate, in s; null without bursts.",
    "BufferRow.corrected_s": "That without what the DUT forwarded in that time, in s.",
    "BufferRow.valid": "Whether no burst came near the limit.",
    "StreamLatency.name": "The stream's name.",
    "StreamLatency.across_stalls": "Samples that a stall of the tester may have delayed; not in "
    "`latency`, but in `latency_low` and `latency_high`.",
    "Shortfall.what": "Which duration or count.",
    "Shortfall.used": "What the run used, with its unit.",
    "Shortfall.standard": "What the standard wants, with its unit.",
    "Shortfall.section": "The standard's section.",
    # Matrix.
    "order": "In which order the samples were run.",
    "seed": "The seed of a random order.",
    "iterations": "One entry for each combination of values.",
    "number": "Its number, from 1.",
    "RepeatedSpread.count": "How many measurements.",
    "RepeatedSpread.mean": "Their mean, in the unit of the row.",
    "RepeatedSpread.minimum": "The least, in the unit of the row.",
    "RepeatedSpread.maximum": "The greatest, in the unit of the row.",
    "RepeatedSpread.deviation": "Standard deviation, in the unit of the row; null of one alone.",
    "params": "The values of the combination, by the paths of their fields.",
    "SampleResult.directory": "Where its run lies, below the matrix run's directory.",
    "SampleResult.load_line_pps": "Its load line per direction, in frames per second; null "
    "without one.",
    "SampleResult.error": "The error that ended it; null where it came to its result.",
    "LoadLineSpread.mean_pps": "Their mean, in frames per second per direction.",
    "LoadLineSpread.min_pps": "The least, in frames per second per direction.",
    "LoadLineSpread.max_pps": "The greatest, in frames per second per direction.",
    "LoadLineSpread.relative": "Greatest less least, as a share of the mean.",
    # Audit.
    "AuditRecord.format": "What kind of document this is.",
    "AuditRecord.version": "The version of the document's format.",
    "AuditRecord.plimsoll": "The version of plimsoll that wrote it.",
    "AuditRecord.role": "tester, or observed for another host; null outside of a run.",
    "AuditRecord.source": "Where the host was read: this host, over ssh, from a capture.",
    "AuditRecord.host": "The host's name; null where it could not be read.",
    "AuditRecord.kernel": "Its kernel's release; null where it could not be read.",
    "AuditRecord.intent": "The name of the intent it was judged against; null without one.",
    "AuditRecord.assumed": "Where an intent that was not given comes from, or why there is none.",
    "AuditRecord.under_test": "The CPUs under test as the kernel lists them; empty where unknown.",
    "AuditRecord.unread": "Why the host could not be audited at all; null where it could.",
    "AuditRecord.took_s": "How long it took, in s.",
    "AuditRecord.findings": "One entry for each check.",
    "AuditRecord.changes": "What later sessions of the run found otherwise.",
    "AuditChange.time_ns": "When: UTC, in ns since 1970.",
    "AuditChange.verdicts": "By the check's name, the verdict before and then.",
    "AuditFinding.number": "The check's number.",
    "AuditFinding.name": "The check's name.",
    "AuditFinding.group": "The group it belongs to.",
    "AuditFinding.title": "What it checks.",
    "AuditFinding.verdict": "Whether the host is as intended, or why that is not known.",
    "AuditFinding.text": "What was found, as a sentence.",
    "AuditFinding.expected": "What the intent asks for.",
    "AuditFinding.read": "What was read on the host.",
    "AuditFinding.steps": "The remedy, step by step.",
    "AuditFinding.why": "Why it matters.",
    "AuditFinding.fix": "How to set it right.",
    "AuditFinding.sources": "Who says so.",
    "AuditReading.where": "The path or command.",
    "AuditReading.what": "What it said.",
    "AuditStep.text": "The command or the advice.",
    "AuditStep.kind": "command: for a root shell; else advice.",
    "NoiseResult.trace": "The kernel's trace of the time; null where there was none.",
    # Of quiet and noisy runs by turns, and of plugfests.
    "NoiseDifference.figure": "What is compared: load line, p99 or p99.9 of a probe, by its name.",
    "NoiseDifference.unit": "Of all values of the row: pps or ns.",
    "NoiseDifference.better": "Whether higher or lower values are the better ones.",
    "NoiseDifference.quiet": "The figure of each run without the noise, in `unit`.",
    "NoiseDifference.noisy": "The figure of each run with the noise, in `unit`.",
    "NoiseDifference.estimate": "How much more the noisy side has (Hodges and Lehmann), in "
    "`unit`; null without runs "
    "on both sides.",
    "NoiseDifference.least": "Lower end of the estimate's exact 95 % interval, in `unit`; null "
    "with too few "
    "runs.",
    "NoiseDifference.most": "Upper end of the estimate's exact 95 % interval, in `unit`; null "
    "with too few "
    "runs.",
    "NoiseDifference.relative": "The estimate as a share of the quiet side's median; null "
    "without either. "
    "The estimate as a share of the quiet side's median; null without either.",
    "NoiseDifference.judgement": "What the interval says: better, worse, no difference seen, or "
    "cannot tell. "
    "What the interval says: better, worse, no difference seen, or cannot tell.",
    "NoisyResult.iterations": "The quiet side, then the noisy one.",
    "PlugfestCell.dut": "The DUT, by the name that the plugfest gives it.",
    "PlugfestCell.chain": "p2p, or the lab's other way through guests.",
    "PlugfestCell.flows": "Flows of each load stream.",
    "PlugfestCell.noise": "The noise, by its name; empty where the plugfest has none.",
    "PlugfestCell.generator": "The generator, by its name; empty where the plugfest has one.",
    "MeasuredFigure.name": "What was measured: load line, p50, p99 or p99.9 of a probe.",
    "MeasuredFigure.unit": "Of all values of the row: pps or ns.",
    "MeasuredFigure.better": "Whether higher or lower values are the better ones.",
    "MeasuredFigure.values": "One value of each repetition that has the figure, in `unit`.",
    "MeasuredFigure.median": "The median of the values, in `unit`.",
    "MeasuredFigure.least": "Lower end of the median's exact 95 % interval, in `unit`; null "
    "below six values. "
    "Lower end of the median's exact 95 % interval, in `unit`; null below six values.",
    "MeasuredFigure.most": "Upper end of the median's exact 95 % interval, in `unit`; null below "
    "six values. "
    "Upper end of the median's exact 95 % interval, in `unit`; null below six values.",
    "PlugfestCell.state": "measured: some repetition has a load line; none: the DUT carried no "
    "load of the "
    "search; invalid: the tester could not tell; failed: it ended with an error; refused: "
    "it cannot be run here; not-run: the run has not come to it.",
    "PlugfestCell.figures": "One row for each figure that some repetition has.",
    "CellDifference.axis": "The axis on which the two cells differ.",
    "CellDifference.cell": "The number of the cell that is compared.",
    "CellDifference.baseline": "The number of the cell that it is held against.",
    "CellDifference.figure": "What is compared, by its name.",
    "CellDifference.unit": "Of all values of the row: pps or ns.",
    "CellDifference.estimate": "The median of all pairwise differences (Hodges and Lehmann), in "
    "`unit`. "
    "The median of all pairwise differences (Hodges and Lehmann), in `unit`.",
    "CellDifference.least": "Lower end of the estimate's exact 95 % interval, in `unit`; null "
    "with too few "
    "repetitions.",
    "CellDifference.most": "Upper end of the estimate's exact 95 % interval, in `unit`; null "
    "with too few "
    "repetitions.",
    "CellDifference.relative": "The estimate as a share of the baseline's median; null without "
    "one. "
    "The estimate as a share of the baseline's median; null without one.",
    "CellDifference.judgement": "What the interval says: better, worse, no difference seen, or "
    "cannot tell. "
    "What the interval says: better, worse, no difference seen, or cannot tell.",
    "RanSample.cell": "The number of the cell.",
    "RanSample.repetition": "The number of the repetition, from 1.",
    "RanSample.seconds": "How long it took, lab and calibration included, in s.",
    "PlugfestResult.seed": "From which the order of each round was drawn.",
    "PlugfestResult.repetitions": "How many of each cell were requested.",
    "PlugfestResult.settled": "How wide the median's interval may be, as a share of it, for a "
    "cell to be repeated "
    "no further.",
    "PlugfestResult.budget_s": "How long all of it was allowed to take, in s; null without a "
    "bound. "
    "How long all of it was allowed to take, in s; null without a bound.",
    "PlugfestResult.spent_s": "How long all sessions took together, in s.",
    "PlugfestResult.baseline": "The DUT that the others are held against, by its name.",
    "PlugfestResult.frames": "What each mix of frame sizes is, by its name: sizes in bytes with "
    "FCS, and "
    "weights.",
    "PlugfestResult.cells": "One entry for each combination of the axes.",
    "PlugfestResult.differences": "One row for each figure of two cells that differ on one axis.",
    "PlugfestResult.ran": "The repetitions, in the order in which they were run.",
}


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a description at every property that has none of its own."""
    for title, model in _models(schema):
        for name, found in model.get("properties", {}).items():
            text = FIELDS.get(f"{title}.{name}", FIELDS.get(name))
            if text is not None:
                found.setdefault("description", text)
    return schema


def _models(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield schema["title"], schema
    yield from schema.get("$defs", {}).items()
