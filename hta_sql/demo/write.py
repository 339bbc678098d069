"""Writes records as Kineto does: with the keys, order, spacing and number formats of its logger.

A `TraceWriter` streams the file of one rank. It gets the records of one step at a time and keeps
none of them.
"""

import gzip
import json
from pathlib import Path

from hta_sql.demo.kineto import (
    GPUS_PER_HOST,
    TIME_FORMATS,
    collective_args,
    devices,
    flow_event,
    inputs,
    kernel_args,
    last_rows,
    metadata,
    module_id,
    x,
)
from hta_sql.demo.operators import Kernel
from hta_sql.demo.plan import BASE_NS, Job
from hta_sql.demo.process import COMPUTE_STREAM, Rank
from hta_sql.demo.records import AUTOGRAD, MAIN, Collective, StepRecords

SYNC_LANE = 1_000_000
CBIDS = {
    "cudaMalloc": 20,
    "cudaFree": 22,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaStreamSynchronize": 131,
    "cudaEventRecord": 135,
    "cudaStreamWaitEvent": 147,
    "cudaDeviceSynchronize": 165,
    "cudaLaunchKernel": 211,
    "cudaLaunchKernelExC": 430,
    "cuLaunchKernelEx": 652,
}


class TraceWriter:
    """Writes the trace of one rank. `event_count` is the number of events so far."""

    def __init__(self, path: Path, job: Job, rank: Rank, time_format: str, collective_ids: str):
        self.event_count = 0
        self.job, self.rank, self.time_format = job, rank, time_format
        self.collective_ids = collective_ids
        self.device = rank.number % GPUS_PER_HOST
        self.pid = 41_000 + 37 * rank.number
        self.tids = {MAIN: self.pid, AUTOGRAD: self.pid + 311}
        self.at, self.lasts = TIME_FORMATS[time_format]
        self.sync_lane = SYNC_LANE if time_format == "based" else 0
        self.name = f"/tmp/demo/{path.name}"
        self.parts: dict[object, tuple[str, str]] = {}
        self.event_index = 0
        # No name or time in the gzip header, so that the same job gives the same bytes.
        self.file = path.open("wb")
        self.out = (
            gzip.GzipFile("", "wb", 1, self.file, mtime=0) if path.suffix == ".gz" else self.file
        )
        self._put(self._head())

    def _put(self, text: str) -> None:
        self.out.write(text.encode())

    def _events(self, events: list[str]) -> None:
        if events:
            self._put((",\n" if self.event_count else "\n") + ",\n".join(events))
            self.event_count += len(events)

    def _head(self) -> str:
        groups = [group for group in self.job.groups if self.rank.number in group.members]
        distributed = {
            "backend": "nccl",
            "rank": self.rank.number,
            "world_size": len(self.job.ranks),
            "pg_count": len(groups),
            "pg_config": [
                {
                    "pg_name": group.name,
                    "pg_desc": group.description,
                    "backend_config": "cuda:nccl",
                    "pg_size": len(group.members),
                    "ranks": list(group.members),
                }
                for group in groups
            ],
            "nccl_version": "2.27.5",
        }
        early = ""
        if self.time_format == "based":
            early = f'\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {BASE_NS},'
        return f"""
{{
  "schemaVersion": 1,
  "deviceProperties": [{devices()}
  ],
  "cupti_version": 28,
  "cuda_runtime_version": 12090,
  "cuda_driver_version": 12090,
  "record_shapes": 1,
  "profile_memory": 1,
  "with_stack": 1,
  "distributedInfo": {json.dumps(distributed)},
  "host_name": "demo-node-{self.rank.number // GPUS_PER_HOST}",{early}
  "traceEvents": ["""

    def close(self, start_ns: int, end_ns: int) -> None:
        """Write the rows and keys that Kineto adds at the end, and close the file."""
        self._events(
            self._metadata(self.at(start_ns), self.lasts(end_ns - start_ns), self.at(end_ns))
        )
        late = {
            "based": "",
            "based_late": f',\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {BASE_NS}',
            "integer": "",
        }.get(self.time_format, ',\n  "displayTimeUnit": "ns"')
        self._put(f'\n  ],\n  "traceName": "{self.name}"{late}\n}}\n')
        self.out.close()
        self.file.close()

    def write(self, records: StepRecords) -> None:
        """Write all records of a step."""
        events: list[str] = []
        self._host_ops(records, events)
        self._allocations(records, events)
        self._calls(records, events)
        self._activities(records, events)
        self._syncs(records, events)
        for twin in records.gpu_annotations:
            # One ns wider on both sides, so that its activities nest in it.
            margin = 0 if self.time_format == "integer" else 1
            dur = twin.end_ns - twin.start_ns + 2 * margin
            events.append(
                f'{x("gpu_user_annotation", twin.op.name)}"pid": {self.device}, '
                f'"tid": {twin.stream},\n    "ts": {self.at(twin.start_ns - margin)}, '
                f'"dur": {self.lasts(dur)},\n    "args": {{\n'
                f'      "External id": {twin.external_id}\n    }}\n  }}'
            )
        for name, start, end in records.pauses:
            events.append(
                f'{x("overhead", name)}"pid": -1, "tid": 0,\n'
                f'    "ts": {self.at(start)}, "dur": {self.lasts(end - start)},\n'
                '    "args": {\n      \n    }\n  }'
            )
        self._events(events)

    def _host_ops(self, records: StepRecords, events: list[str]) -> None:
        at, lasts, pid, tids = self.at, self.lasts, self.pid, self.tids
        parts, add = self.parts, events.append
        for host_op in records.host_ops:
            op, thread, start, end, _, id_, parent, sequence, forward, flow, collective = host_op
            if op not in parts:
                parts[op] = (f'{x(op.category, op.name)}"pid": {pid}, "tid": ', inputs(op))
            head, args = parts[op]
            if op.category == "python_function":
                above = f'"Python parent id": {parent}, ' if parent else ""
                module = module_id(op)
                args = f'{above}"Python id": {id_}{module}, '
            else:
                links = (
                    f'"Sequence number": {sequence}, "Fwd thread id": {forward}, '
                    if sequence
                    else ""
                )
                if collective:
                    links += self._host_collective(collective) + ", "
                args = f'"External id": {id_},"Record function id": {id_}, {links}{args}'
            tid, ts = tids[thread], at(start)
            add(
                f'{head}{tid},\n    "ts": {ts}, "dur": {lasts(end - start)},\n    "args": {{\n'
                f'      {args}"Ev Idx": {self.event_index}\n    }}\n  }}'
            )
            self.event_index += 1
            if flow:
                add(flow_event("fwdbwd", flow, pid, tid, ts, ends=thread == AUTOGRAD))

    def _allocations(self, records: StepRecords, events: list[str]) -> None:
        for thread, at_ns, address, size, allocated in records.allocations:
            events.append(
                '  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n'
                f'    "pid": {self.pid}, "tid": {self.tids[thread]},\n'
                f'    "ts": {self.at(at_ns)},\n    "args": {{\n'
                f'      "Total Reserved": {64 << 30}, "Total Allocated": {allocated}, '
                f'"Bytes": {size}, "Addr": {address}, "Device Id": {self.device}, '
                f'"Device Type": 1, "Ev Idx": {self.event_index}\n    }}\n  }}'
            )
            self.event_index += 1

    def _calls(self, records: StepRecords, events: list[str]) -> None:
        at, lasts, pid, tids, add = self.at, self.lasts, self.pid, self.tids, events.append
        for name, thread, start, end, _, external_id, correlation, launches in records.calls:
            category = "cuda_runtime" if name.startswith("cuda") else "cuda_driver"
            linked = f'"External id": {external_id},      ' if external_id else ""
            tid, ts = tids[thread], at(start)
            add(
                f'{x(category, name)}"pid": {pid}, "tid": {tid},\n'
                f'    "ts": {ts}, "dur": {lasts(end - start)},\n    "args": {{\n      {linked}'
                f'"cbid": {CBIDS[name]}, "correlation": {correlation}\n    }}\n  }}'
            )
            if launches:
                add(flow_event("ac2g", correlation, pid, tid, ts, ends=False))

    def _activities(self, records: StepRecords, events: list[str]) -> None:
        at, lasts, parts, add = self.at, self.lasts, self.parts, events.append
        device = self.device
        for work, stream, start, end, external_id, correlation, collective in records.activities:
            if work not in parts:
                head = f'{x(work.category, work.name)}"pid": {device}, "tid": '
                parts[work] = (head, kernel_args(work) if type(work) is Kernel else "")
            head, tail = parts[work]
            ts, dur = at(start), end - start
            if collective:
                tail += ", " + self._collective(collective)
            elif not tail:
                tail = (
                    f'      "bytes": {work.bytes}, '
                    f'"memory bandwidth (GB/s)": {work.bytes / dur if dur else 0}'
                )
            queued = '"queued": 0, ' if type(work) is Kernel else ""
            add(
                f'{head}{stream},\n    "ts": {ts}, "dur": {lasts(dur)},\n    "args": {{\n'
                f'      "External id": {external_id},      {queued}"device": {device}, '
                f'"context": 1,      "stream": {stream}, "correlation": {correlation},'
                f"{tail}\n    }}\n  }}"
            )
            add(flow_event("ac2g", correlation, device, stream, ts, ends=True))

    def _syncs(self, records: StepRecords, events: list[str]) -> None:
        for kind, stream, start, end, external_id, correlation, awaited in records.syncs:
            lane = stream + self.sync_lane if kind == "Stream Sync" else stream
            linked = f'"External id": {external_id},      ' if external_id else ""
            waits = ""
            if awaited:
                waits = (
                    f'      "wait_on_stream": {awaited[0]},'
                    f'      "wait_on_cuda_event_record_corr_id": {awaited[1]},'
                    f'      "wait_on_cuda_event_id": {awaited[1] % 64},'
                )
            events.append(
                f'{x("cuda_sync", kind)}"pid": {self.device}, "tid": {lane},\n'
                f'    "ts": {self.at(start)}, "dur": {self.lasts(end - start)},\n    "args": {{\n'
                f'      {linked}"cuda_sync_kind": "{kind}",{waits}      "stream": {stream}, '
                f'"correlation": {correlation},      "device": {self.device}, "context": 1'
                "\n    }\n  }"
            )

    def _collective(self, collective: Collective) -> str:
        return collective_args(collective, self.rank.number, self.collective_ids)

    def _host_collective(self, collective: Collective) -> str:
        members = collective.group.members
        stride = members[1] - members[0] if len(members) > 1 else 1
        return (
            f'{self._collective(collective)}, "Rank": {self.rank.number}, '
            f'"Global rank start": {members[0]}, "Global rank stride": {stride}, '
            '"Is asynchronized op": 1'
        )

    def _metadata(self, start: str, dur: str, end: str) -> list[str]:
        processes = [(self.pid, "python3", "CPU", self.pid)] + [
            (i, "python3", f"GPU {i}", 5_000_000 + i) for i in range(GPUS_PER_HOST)
        ]
        tids = self.tids
        threads = [
            (self.pid, tids[MAIN], f"thread {tids[MAIN]} (python3)", tids[MAIN]),
            (self.pid, tids[AUTOGRAD], f"thread {tids[AUTOGRAD]} (pt_autograd_0)", tids[AUTOGRAD]),
            *((self.device, s, f"stream {s} ", s) for s in sorted(self.rank.free)),
        ]
        if self.sync_lane:
            lane = COMPUTE_STREAM + self.sync_lane
            threads.append((self.device, lane, f"stream {COMPUTE_STREAM} (sync)", lane))
        rows = []
        for pid, name, label, order in processes:
            rows.append(metadata("process_name", start, pid, 0, f'"name": "{name}"'))
            rows.append(metadata("process_labels", start, pid, 0, f'"labels": "{label}"'))
            rows.append(metadata("process_sort_index", start, pid, 0, f'"sort_index": {order}'))
        for pid, tid, name, order in threads:
            rows.append(metadata("thread_name", start, pid, tid, f'"name": "{name}"'))
            rows.append(metadata("thread_sort_index", start, pid, tid, f'"sort_index": {order}'))
        return rows + last_rows(start, dur, end)
