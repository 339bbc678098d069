# Generated: python -m hta_sql.catalogue.stubs

from collections.abc import Iterable, Mapping

import pyarrow as pa

from hta_sql.critical_path.compute import compute_critical_path as _compute_critical_path
from hta_sql.fleet.materialize import materialize as _materialize

def add_methods(modules: Mapping[str, str]) -> None: ...

class Methods:
    """The base class of open archives, which has these methods."""

    def all_to_all_matrix(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Bytes that each rank sends to each other rank in all-to-alls.

        The bytes follow from the input splits of the sender's call: how many rows of its tensor go to
        each member, in the order of the process group. Without splits, all members get equal shares.

        The query cannot use a call
          * that the archive lacks
          * whose splits the trace cuts short (splits_cut_short in collective_audit)
          * whose data type is unknown (unknown_dtype in collective_audit)

        If the query cannot use the sender's call, the output splits of the receiver's call count
        instead. If it cannot use the receiver's call either, the bytes from this sender to this receiver
        are not counted.

        The query leaves out all-to-alls with only one rank in the archive, and all-to-alls in groups
        whose ranks are unknown (`ranks` in process_groups is NULL).

        The bytes that a rank keeps for itself have a row, too: in this row, src_rank and dst_rank are
        the same rank.

        In a mixture of experts, a receiver with far more bytes than the others holds an overloaded
        expert.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks that send or receive [default: all]
            only_steps (BIGINT[]): steps of the all-to-alls [default: all]

        Returns:
            pyarrow.Table, one row per job, src_rank, dst_rank:
            job               VARCHAR, run of a program
            src_rank          INTEGER, global rank of the sender
            dst_rank          INTEGER, global rank of the receiver
            bytes             BIGINT, bytes sent from src_rank to dst_rank
            collective_count  BIGINT, all-to-alls in which src_rank sends to dst_rank

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.all_to_all_matrix()
        """

    def clock_offsets(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Clock offset, drift and error of each rank against a reference rank.

        All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it at the
        same moment. If two ranks record different times for this moment, the difference is the offset
        between their clocks:

            rank 0's clock    [=====)        [=====)         [=====)
            rank 1's clock      [======)       [======)        [======)
                                   >--<           >--<            >---<
                                  offset         offset       offset + drift

        The offset is a median of these differences, and the drift is a median of slopes (Theil and Sen).
        So a few collectives that ranks leave at very different times do not change the result.
        The drift is 0 if it cannot be distinguished from noise.

        Collectives connect ranks, directly or through other ranks. In each set of connected ranks, the
        lowest rank is the reference rank. These formulas convert start_ns, a time on the rank's clock,
        to aligned_ns, the time on the reference rank's clock:

            rough_ns = start_ns - offset_ns
            aligned_ns = rough_ns - (rough_ns - reference_ns) * drift_ppm / 1e6

        residual_ns is the error that remains after this correction: in 95 of 100 collectives, the
        kernels of the rank and of its reference rank end at most residual_ns apart. residual_ns includes
        a margin, which is larger if fewer collectives connect the ranks. If a rank leaves every
        collective late by the same time, this delay looks like an offset, and residual_ns does not show
        it.

        Each rank of a job has one row. The query leaves out jobs with only one rank, and jobs without
        any collective or message. Offsets are always measured with all ranks of the job; only_ranks
        chooses which rows you see.

        HTA does not measure offsets. HTA assumes that the clocks of all ranks are equal.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]

        Returns:
            pyarrow.Table, one row per job, rank:
            job             VARCHAR, run of a program
            rank            INTEGER, rank of the process
            offset_ns       BIGINT, time by which the rank's clock is ahead of the reference rank's clock at reference_ns; NULL if no collective connects the rank to another rank
            drift_ppm       DOUBLE, time that the rank's clock gains on the reference rank's clock, in parts per million
            residual_ns     BIGINT, error of the offset and drift, as above
            anchor_count    BIGINT, collectives from which the offset is measured, at most 1000; 0 for the reference rank
            reference_rank  INTEGER, rank whose clock is the reference; NULL if offset_ns is NULL
            reference_ns    BIGINT, start of the reference rank's trace, on its own clock
            host            VARCHAR, machine of the rank; ranks of one machine should have the same offset

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.clock_offsets()
        """

    def collective_audit(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Faults in pairing collectives and messages across ranks, one row per fault.

        The column `reason` has the kind of fault:

            missing_rank       the rank has a trace that covers the time of these
                               calls, but the trace does not have these calls
            extra_call         only this rank has these calls, and two or more
                               ranks lack them, whose traces cover the time
            cut_by_window      the rank's recording began after these calls or
                               ended before them, or has no GPU activity
            other_name         the rank gives a name that differs from the name
                               that most members give
            other_dtype        the rank gives a data type that differs from the
                               data type that most members give
            other_size         the rank gives a size that differs from the size
                               that most members give; only for operations whose
                               members have to give the same size
            out_of_order       the rank ran these calls after a call with a higher
                               Seq
            trace_missing      some members have no trace in the archive; other
                               members may have waited for them
            not_paired         the calls have no ids, and their order does not fit
                               the order on any other rank
            unknown_peer       the sends or receives name no peer
            unknown_members    the trace does not give the ranks of the group, and
                               it gives either no size of the group or a size that
                               is smaller than the number of ranks with calls
            unknown_dtype      the trace gives no data type, or one of unknown
                               size: bytes and bandwidths are NULL
            unknown_operation  the operation of the collective is not known: its
                               bus bandwidth is NULL, and clock_offsets,
                               stragglers and straggler_blame do not use it
            splits_cut_short   the trace cuts the splits of all-to-alls short: bus
                               bandwidth is NULL

        For other_name, other_dtype and other_size, two values may be equally frequent among the members.
        The query then assumes that most members give the alphabetically first one.

        What one row stands for depends on the reason:
          * missing_rank, extra_call, other_name, other_dtype, other_size, out_of_order: one rank and one
            unbroken sequence of calls. Example: if a rank lacks the calls 5, 6, 7 and 12 of a group, it
            has one row for 5 to 7 and one row for 12. A sequence has the collectives of one group, or
            the messages from one sender to one receiver.
          * cut_by_window: one rank and one side (start or end) of its recording, for all groups together
          * not_paired, unknown_peer: one rank and one group
          * trace_missing, unknown_members, splits_cut_short: one group
          * unknown_dtype: one data type
          * unknown_operation: one name of a collective

        If a job has traces of only one rank, its faults can have only these reasons: out_of_order,
        unknown_dtype, unknown_operation and splits_cut_short.

        Members may give a collective different names (other_name). clock_offsets, stragglers and
        straggler_blame then use this collective only if each of these names is an all-reduce,
        all-gather, reduce-scatter, all-to-all or barrier, since members leave these together.

        Args:
            only_jobs (VARCHAR[]): jobs to check [default: all]
            only_ranks (INTEGER[]): ranks to show; rows with rank NULL stay [default: all]

        Returns:
            pyarrow.Table, one row per job, finding:
            job                 VARCHAR, run of a program
            finding             BIGINT, number of the fault in the job, from 1
            reason              VARCHAR, kind of fault, as above
            rank                INTEGER, rank at fault; NULL if no single rank is at fault
            group_id            BIGINT, number of the group in process_groups; NULL if the row covers all groups
            process_group       VARCHAR, name of the group; NULL if the row covers all groups
            name                VARCHAR, name that PyTorch gives the first collective; `send` for messages
            collective_id       BIGINT, number of the first collective; NULL if the calls are not paired. `collectives` has no row for a collective that only one rank has
            last_collective_id  BIGINT, number of the last collective; NULL if the calls are not paired
            collective_count    BIGINT, number of collectives, or of calls if they are not paired
            detail              VARCHAR, details, such as the names, sizes or ranks

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collective_audit()
        """

    def collective_bandwidth(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Bandwidth of collectives, by process group, name and message size.

        The time of a collective is its transfer time without waits: the shortest duration of its
        members. Bus bandwidth is bytes * factor / time, in 1e9 bytes (GB) per second. It can be compared
        with nccl-tests and with the speed of a link. In a group of n ranks, bytes and factor are:

            collective                   bytes                  factor
            all-reduce                   input                  2 (n - 1) / n
            all-gather                   output                 (n - 1) / n
            reduce-scatter               input                  (n - 1) / n
            all-to-all, gather, scatter  larger of input        (n - 1) / n
                                         and output
            all-to-all with known        largest number of      1
            splits                       bytes that a rank
                                         sends or receives
            broadcast, reduce            input                  1
            send and receive (`send`)    the message            1

        The view bus_factors has the factors, and dtype_sizes has the sizes of elements, each with its
        source. The factors assume that the ranks form a ring. If switches do the reduction, bus
        bandwidth may exceed the speed of a link.

        The bandwidth of several collectives is their total bytes divided by their total time, not the
        mean of their bandwidths. Groups that share a name count together. The query leaves out
        collectives with only one rank in the archive.

        only_ranks chooses collectives: those in which at least one of these ranks takes part. Each
        collective is always measured over all its ranks.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks whose collectives are measured [default: all]
            only_steps (BIGINT[]): steps whose collectives are measured [default: all]

        Returns:
            pyarrow.Table, one row per job, process_group, name, bytes:
            job                 VARCHAR, run of a program
            process_group       VARCHAR, name of the process group
            name                VARCHAR, collective, as PyTorch names it; `send` for a message
            bytes               BIGINT, size of the message; NULL for a barrier, and if the data type or the number of elements is not known
            process_group_desc  VARCHAR, purpose of the group, if the program gives it; the first by name if there are several
            dtype               VARCHAR, data type; the first by name if there are several
            group_size          BIGINT, number of ranks in the group; the largest number if several groups have this name; 2 for messages
            count               BIGINT, number of collectives
            transfer_ns         BIGINT, sum of the transfer times of the collectives
            algbw_gbps          DOUBLE, (sum of bytes) / transfer_ns
            busbw_gbps          DOUBLE, (sum of bytes * factor) / transfer_ns; NULL if the factor of a collective is not known
            p01_busbw_gbps      DOUBLE, 1st percentile of the bus bandwidths of the collectives
            p50_busbw_gbps      DOUBLE, median of the bus bandwidths of the collectives
            p99_busbw_gbps      DOUBLE, 99th percentile of the bus bandwidths of the collectives

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collective_bandwidth()
        """

    def collective_members(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """When each rank came to each collective, and how long it waited there.

        All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
        together. The member with the shortest duration therefore came last and did not wait. The wait
        of each other member is its duration minus the shortest duration. These waits do
        not depend on clocks:

            rank 0      wwwwwwwwwwww========    w: wait
            rank 1           wwwwwww========    wait_ns is 7 (7 letters w)
              computes         ccc    cccc      its device computes during 3 of
                                                these 7, so exposed_wait_ns is 4
            rank 2                  ========    came last, wait_ns is 0

        exposed_wait_ns is the part of wait_ns without computation on the rank's device.

        aligned_wait_ns comes from clocks: it is the time from this member's start to the last member's
        start. If wait_ns and aligned_wait_ns differ, either the clocks are wrong by the difference, or
        the members did not leave together.

        In a broadcast, reduce, gather or scatter, the root may finish early. wait_ns is then still the
        difference between durations, but the difference is not only waiting. If the operation of a
        collective is unknown, the query assumes that its root may finish early.

        Which member is the last one (is_last) depends on the operation:
          * If all members leave together, it is the member with the shortest duration. If several
            members have the shortest duration, a hash of collective and rank picks one of them.
          * If a root may finish early, it is the member with the latest start on aligned clocks. If
            several members have the latest start, it is the one with the lowest rank.

        Pairing and waits always use all ranks of the job; only_ranks chooses which rows you see.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]
            only_steps (BIGINT[]): steps to report [default: all]

        Returns:
            pyarrow.Table, one row per job, collective_id, rank:
            job               VARCHAR, run of a program
            collective_id     BIGINT, number of the collective, as in collectives
            rank              INTEGER, rank of the member
            event_id          BIGINT, event_id of the member's kernel
            name              VARCHAR, collective, as PyTorch names it
            process_group     VARCHAR, name of the process group
            step              BIGINT, step in which the member's kernel was launched; NULL outside steps
            start_ns          BIGINT, start on the rank's own clock
            aligned_start_ns  BIGINT, start on the reference rank's clock; NULL if the rank's clock is not aligned
            dur_ns            BIGINT, duration of the member's kernel
            wait_ns           BIGINT, dur_ns minus the shortest duration of a member
            aligned_wait_ns   BIGINT, time from the member's start to the last member's start, on aligned clocks; NULL if not all members' clocks are aligned
            exposed_wait_ns   BIGINT, part of wait_ns without computation on the device; NULL if an earlier version of hta_sql wrote the archive
            is_last           BOOLEAN, whether the member came last; NULL if a root may finish early and not all members' clocks are aligned

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collective_members()
        """

    def collectives(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Collectives of each job: members, bytes, bandwidth, waits and last rank.

        A row is one all-reduce, all-gather, ... whose kernels on two or more ranks are in the archive.
        collective_audit lists calls that could not be paired cleanly. Sends and receives are in
        point_to_point. The column paired_by says how the kernels were paired:

          * comms_id: by the profiler's `Comms Id`, if all calls of the process group have one.
          * seq: by the profiler's `Seq`, if not all calls of the group have a `Comms Id` but all have a
            `Seq`.
          * order: by the order of the group's calls, in all other cases. This pairing is reliable if
            no rank lacks calls, or if each rank lacks only calls that follow one another.

        All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
        together:

            rank 0    [====================)
            rank 1         [===============)
            rank 2                 [=======)    came last and did not wait
                      start_skew_ns transfer_ns

        Durations therefore show which rank came when, even if clocks are wrong. The shortest duration is
        the transfer time, and the other members waited before the transfer. If several members have the
        shortest duration, a hash of collective and rank picks the last rank.

        In a broadcast, reduce, gather or scatter, the root may finish early. For these collectives,
        start_skew_ns and last_rank are measured with aligned clocks, and are NULL if not all members'
        clocks are aligned. If several members have the latest start, the one with the lowest rank is the
        last. If the operation of a collective is unknown, the query assumes that its root may finish
        early.

        Bandwidth is bytes / transfer_ns, so it can be compared with nccl-tests. The help of
        collective_bandwidth describes bytes and factors. If member_count is below group_size, the
        members may have waited for a rank that is not in the archive.

        Pairing and waits always use all ranks of the job. only_ranks chooses which rows you see: the
        collectives in which at least one of these ranks takes part.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks whose collectives are reported [default: all]
            only_steps (BIGINT[]): steps whose collectives are reported [default: all]

        Returns:
            pyarrow.Table, one row per job, collective_id:
            job                 VARCHAR, run of a program
            collective_id       BIGINT, number of the collective. Collectives are numbered in the order in which their first kernel starts
            name                VARCHAR, collective, as PyTorch names it, such as _allgather_base
            process_group       VARCHAR, name of the process group, which several groups may share
            process_group_desc  VARCHAR, purpose of the group, if the program gives it
            group_id            BIGINT, number of the group in process_groups
            group_size          BIGINT, ranks in the group
            member_count        BIGINT, kernels of the collective in the archive, one per rank
            step                BIGINT, lowest step in which a member launched its kernel; NULL outside steps
            dtype               VARCHAR, data type, as PyTorch names it
            bytes               BIGINT, size of the message: the larger of a rank's input and output; for an all-to-all with splits, the largest number of bytes that a rank sends or receives; NULL for a barrier, and if the data type or the number of elements is not known
            start_ns            BIGINT, first member's start on the reference rank's clock; NULL if no member's clock is aligned
            end_ns              BIGINT, last member's end on the reference rank's clock; NULL if no member's clock is aligned
            start_skew_ns       BIGINT, time from the first start of a member to the last start
            end_skew_ns         BIGINT, time from the first end of a member to the last end, on aligned clocks; it shows how uncertain clocks and profiler are; NULL if not all members' clocks are aligned
            transfer_ns         BIGINT, shortest duration of a member: the time after all members have come
            wait_ns             BIGINT, sum of the members' waits
            algbw_gbps          DOUBLE, bytes / transfer_ns
            busbw_gbps          DOUBLE, bandwidth of the busiest link: algbw_gbps * factor; NULL if the factor is not known
            last_rank           INTEGER, rank that came last; NULL if this needs aligned clocks and a clock is not aligned
            paired_by           VARCHAR, comms_id, seq or order
            seq                 BIGINT, the profiler's counter in the group
            comms_id            UBIGINT, the profiler's id of the collective

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collectives()
        """

    def expert_load(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Load of experts by rank: time in the kernels of experts, and rows that all-to-alls exchange.

        In a mixture of experts, a router chooses experts for each token. If the experts are on several
        ranks, an all-to-all sends the tokens to the ranks of their experts, and another one sends the
        results back. If the experts of a rank get more tokens, its kernels take longer, and the other
        ranks wait for it.

          * Kernels of experts are those of the category `grouped_gemm`, see category_breakdown. With
            one rank, the figures show how much time they take; with several, `load_ratio` compares them.
          * Rows count in all-to-alls for which the trace has the splits: how many rows of the tensor go
            to and come from each member. A row is a token, once per expert that it goes to. Both ways
            count. A rank whose experts get more tokens receives more on the way there, and sends more on
            the way back. all_to_all_matrix has the bytes between each two ranks.

        The finding expert_imbalance says what the imbalance costs.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank:
            job                  VARCHAR, run of a program
            rank                 INTEGER, rank with such kernels or all-to-alls
            expert_kernel_count  BIGINT, kernels of experts
            expert_ns            BIGINT, sum of their durations
            expert_frac          DOUBLE, expert_ns / sum of the durations of all kernels that compute
            load_ratio           DOUBLE, expert_ns / its mean over the rows of the job; NULL without such kernels
            all_to_all_count     BIGINT, all-to-alls with splits
            all_to_all_ns        BIGINT, sum of their durations, waits included
            sent_row_count       BIGINT, rows that they send from this rank; NULL if there are no splits, or the trace cuts one short
            received_row_count   BIGINT, rows that this rank receives; NULL as above
            received_ratio       DOUBLE, received_row_count / its mean over the rows of the job

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.expert_load()
        """

    def heatmap(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        bucket_count: int | None = 100,
    ) -> pa.Table:
        """Busy share of each rank in each time bucket, on aligned clocks.

        The result can be drawn as a picture with one row per rank and one column per bucket. busy_frac
        is the share of the bucket in which at least one GPU activity of the kind runs, on any device and
        stream of the rank. If several activities run at the same time, this time counts once. The kind
        `busy` stands for activities of any kind.

        Times are converted to the clock of the rank's reference rank, as in clock_offsets. If a rank's
        clock is not aligned, its times stay on its own clock.

        Each rank with selected activities has one row per bucket for `busy`, and one row per bucket for
        each kind of activity in the job, even if its busy time is 0.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            bucket_count (BIGINT): number of buckets per job [default: 100]

        Returns:
            pyarrow.Table, one row per job, rank, kind, bucket:
            job            VARCHAR, run of a program
            rank           INTEGER, rank of the process
            kind           VARCHAR, computation, communication, memory or busy
            bucket         BIGINT, number of the bucket; bucket 0 begins at the start of the job's first selected activity
            start_ns       BIGINT, start of the bucket, on the reference rank's clock
            from_start_ns  BIGINT, start of the bucket, counted from the start of the job's first selected activity
            length_ns      BIGINT, length of the bucket; the last buckets may reach past the end of the last activity
            busy_ns        BIGINT, time in the bucket with activities of the kind on the rank
            busy_frac      DOUBLE, busy_ns / length_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.heatmap()
        """

    def kernel_timeline(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        window_from_ns: int | None = 0,
        window_until_ns: int | None = None,
        min_dur_ns: int | None = 0,
    ) -> pa.Table:
        """GPU activities of each stream and rank in a time window, on aligned clocks.

        The result can be drawn as a picture with one lane per stream. Times are converted to the clock
        of the rank's reference rank, as in clock_offsets, so that the ends of a collective line up
        across ranks. If a rank's clock is not aligned, its times stay on its own clock, and is_aligned
        is false.

        window_from_ns and window_until_ns are counted from the start of the job's first activity.
        only_ranks and only_steps do not change this start. The query shows activities that start before
        window_until_ns and end after window_from_ns. An activity that starts and ends at window_from_ns
        is shown, too.

        HTA's plot_timeline draws the DataFrame of one rank. HTA does not align the clocks of ranks.

        Args:
            only_jobs (VARCHAR[]): jobs to show [default: all]
            only_ranks (INTEGER[]): ranks to show [default: all]
            only_steps (BIGINT[]): steps to show [default: the whole trace]
            window_from_ns (BIGINT): ns; start of the window [default: 0]
            window_until_ns (BIGINT): ns; end of the window [default: end of the last activity]
            min_dur_ns (BIGINT): ns; shorter activities are left out [default: 0]

        Returns:
            pyarrow.Table, one row per job, rank, device, stream, start_ns, event_id:
            job            VARCHAR, run of a program
            rank           INTEGER, rank of the process
            device         BIGINT, GPU, as the process numbers it
            stream         BIGINT, stream on the device
            start_ns       BIGINT, start of the activity, on the reference rank's clock
            event_id       BIGINT, event_id of the activity
            from_start_ns  BIGINT, start of the activity, counted from the start of the job's first activity
            dur_ns         BIGINT, duration of the activity, on the rank's own clock
            kind           VARCHAR, computation, communication or memory
            category       VARCHAR, category of the activity, as in category_breakdown
            name           VARCHAR, short name of the kernel, copy or memset
            step           BIGINT, step in which the activity was launched; NULL outside steps
            process_group  VARCHAR, name of the process group, if the activity is a collective or message
            is_aligned     BOOLEAN, whether the rank's clock is aligned

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_timeline()
        """

    def lost_gpu_time(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        min_late_ns: int | None = 10000,
    ) -> pa.Table:
        """GPU time lost in waits for late ranks, by the rank and the cause of the delay.

        A rank arrives late at a collective or message if it comes min_late_ns or more after its peer,
        the member in the middle of the order of arrival. For each late arrival, straggler_blame finds
        where the delay began: the rank, the cause, and the kernel or operator. This query charges the
        waits of the other members to that rank and cause. lost_gpu_ns is only the part of the waits
        without computation on the members' devices:

            lost_gpu_ns = sum of exposed_wait_ns over the collectives' members

        collective_members gives exposed_wait_ns of each member.

        The charged rank need not be a member of the collective. It may have delayed one of the members
        through a collective of another process group, or through a late message.

        If a delay passes through several collectives (a chain of several hops in straggler_blame), the
        loss in each of these collectives counts. No wait counts twice, because the waiting members are
        different ranks or wait at different times.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks where the delays began [default: all]
            only_steps (BIGINT[]): steps of the late arrivals [default: all]
            min_late_ns (BIGINT): ns; a rank is late if it comes at least this long after its peer [default: 10000]

        Returns:
            pyarrow.Table, one row per job, rank, cause, kernel_name, op_name, host_name:
            job            VARCHAR, run of a program
            rank           INTEGER, rank where the delay began
            cause          VARCHAR, cause of the delay, as in straggler_blame
            kernel_name    VARCHAR, kernel or copy that took longer on that rank; NULL unless the cause is computation or copy
            op_name        VARCHAR, operator that launched this kernel or copy; if the cause is host, operator that launched the activity after the idle gap
            host_name      VARCHAR, what the host did while the device was idle; NULL unless the cause is host
            host           VARCHAR, machine of the rank, if its trace names it
            late_count     BIGINT, late arrivals whose delay began with this rank and cause
            late_ns        BIGINT, sum of these arrivals' delays, each counted from the arrival of the peer
            wait_ns        BIGINT, sum of the waits of all other ranks for these arrivals
            lost_gpu_ns    BIGINT, part of wait_ns without computation on the waiting ranks' devices; NULL in archives that an earlier hta_sql wrote
            lost_gpu_frac  DOUBLE, lost_gpu_ns / sum of the spans of all ranks of the job. A rank's span lasts from the start of its first activity to the end of its last, even if only_steps is given

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.lost_gpu_time()
        """

    def pipeline_bubbles(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Pipeline bubbles: how long each stage waits for messages in each step.

        A rank's stage is its place in the process group of its messages. A rank's bubble is the time in
        which at least one of its receives waits for the sender and its device does not compute. recv_ns
        is the time in which at least one receive runs, with or without waits. If several receives run at
        the same time, this time counts once.

        If a pipeline has p stages and cuts its batch into m parts, its schedule leaves each stage idle
        for this share of a step, even if no stage is slow:

            (p - 1) / (m + p - 1)

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, step:
            job            VARCHAR, run of a program
            rank           INTEGER, rank that receives the messages
            step           BIGINT, step in which the rank launched the receives; NULL outside steps
            stage          BIGINT, the rank's place in the group of its messages, from 0; the lowest place if the messages have several groups; NULL if the groups' ranks are not known
            message_count  BIGINT, messages received
            recv_ns        BIGINT, time with at least one receive
            wait_ns        BIGINT, part of recv_ns in which at least one receive waits
            bubble_ns      BIGINT, part of wait_ns without computation on the rank's device
            step_ns        BIGINT, duration of the step on the rank; NULL outside steps
            bubble_frac    DOUBLE, bubble_ns / step_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.pipeline_bubbles()
        """

    def point_to_point(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Messages between ranks: the paired send and receive, and which side waited.

        Pipeline stages pass activations and gradients as messages. The side with the shorter duration
        came last, and the other side waited for it:

            sender                 [=== send ===)
            receiver   [wwwwwwwwwww=== recv ====)     w: recv_wait_ns
                                   transfer_ns

        bubble_ns is the part of recv_wait_ns without computation on the receiver's device.

        The column paired_by says how messages were paired:
          * comms_id or seq: by the profiler's ids, in a process group of two ranks, if all calls from
            the sender to the receiver have such an id.
          * order: by order for each sender and receiver, in all other cases. In larger groups the ids
            cannot be used, because the profiler counts the messages of each rank separately.

        collective_audit lists messages with only one side in the archive.

        The bubble of a pipeline stage in a step is the sum of bubble_ns over the messages that its rank
        receives, if receives do not overlap:

            SELECT job, dst_rank, step, sum(bubble_ns)
            FROM point_to_point() GROUP BY ALL

        If receives overlap, use pipeline_bubbles: there, the time of overlapping receives counts once.
        pipeline_bubbles also gives the duration of the step.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks that send or receive the messages [default: all]
            only_steps (BIGINT[]): steps in which the receives were launched [default: all]

        Returns:
            pyarrow.Table, one row per job, collective_id:
            job            VARCHAR, run of a program
            collective_id  BIGINT, number of the message; collectives and messages are numbered together
            src_rank       INTEGER, rank of the sender
            dst_rank       INTEGER, rank of the receiver
            process_group  VARCHAR, name of the process group
            step           BIGINT, step in which the receive was launched; NULL outside steps
            dtype          VARCHAR, data type
            bytes          BIGINT, size of the message; NULL if the data type or the size is not known
            send_event_id  BIGINT, event_id of the sender's kernel
            recv_event_id  BIGINT, event_id of the receiver's kernel
            recv_start_ns  BIGINT, start of the receive, on the receiver's own clock
            send_ns        BIGINT, duration of the send on the sender
            recv_ns        BIGINT, duration of the receive on the receiver
            transfer_ns    BIGINT, the shorter of send_ns and recv_ns
            send_wait_ns   BIGINT, time that the sender waited for the receiver
            recv_wait_ns   BIGINT, time that the receiver waited for the sender
            bubble_ns      BIGINT, part of recv_wait_ns without computation on the receiver's device; NULL in archives that an earlier hta_sql wrote
            busbw_gbps     DOUBLE, bytes / transfer_ns
            paired_by      VARCHAR, comms_id, seq or order

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.point_to_point()
        """

    def process_groups(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Process groups of each job: their ranks and their kind of parallelism.

        The trace lists a group's ranks with each collective. The profiler shortens lists of more than 30
        ranks, and a trace may lack the list. If the list is shortened or missing, the query tries the
        sources below. It uses the first source that agrees with the group's size and with the ranks that
        are left in the list. ranks_source names the source:

            1  distributedInfo        ranks that the header of the trace declares
            2  start and stride       ranks that follow from the group's first
                                      rank and stride in the trace
            3  first and last ranks   ranks that follow from the first two ranks
                                      and the last rank in the shortened list:
                                      [0, 8, ..., 504] gives 0, 8, 16, 24 and so
                                      on up to 504
            4  world size             all ranks of the job; only if the list has
                                      no rank and the group is as large as the job

        `role` comes from one of three sources: the first of them that gives a role. `evidence` is the
        reason:

            1  description  the description contains one of these words:
                            tensor: tp, tensor, mp
                            pipeline: pp, pipe, pipeline, stage
                            expert: ep, expert, experts, moe
                            context: cp, context, sp, sequence, ulysses, ring
                            data: dp, ddp, fsdp, hsdp, data, shard, sharded,
                                  replicate, replica
            2  calls        pipeline: over half of the calls send or receive
                            expert: over half of the calls are all-to-alls
            3  ranks        data: the job has only this group, and the group
                                  has all ranks of the job
                            world: the group has all ranks of the job, or its
                                   description is default_pg
                            tensor: stride is 1, and all ranks are on one machine
                            data: stride is above 1

        If a source gives several roles, the first of them in this list counts. Roles from the calls and
        the ranks are guesses.

        Groups without collectives or messages have no row.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): groups with calls of these ranks [default: all]

        Returns:
            pyarrow.Table, one row per job, group_id:
            job                 VARCHAR, run of a program with traces of two ranks or more
            group_id            BIGINT, number of the group, as in collectives
            process_group       VARCHAR, name of the group, which several groups may share
            process_group_desc  VARCHAR, purpose of the group, if the program gives it
            group_size          BIGINT, ranks in the group
            ranks               INTEGER[], all ranks of the group, in the group's order; NULL if they are not known
            ranks_source        VARCHAR, `trace` if the trace lists all ranks; otherwise the source, as above; NULL if ranks is NULL
            first_rank          INTEGER, lowest rank of the group; NULL if the ranks are not known
            stride              BIGINT, distance from each rank to the next. NULL if the distances differ, if the group has only one rank, or if the ranks are not known
            trace_count         BIGINT, ranks of the group that have calls in the archive
            role                VARCHAR, data, tensor, pipeline, expert, context or world; NULL if no source gives one
            evidence            VARCHAR, why the group has this role; NULL if role is NULL
            call_count          BIGINT, kernels of the collectives, sends and receives of the group
            operations          VARCHAR, operations of these kernels, the most frequent first, each with its percent of the kernels, such as all_reduce 75 %, broadcast 25 %

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.process_groups()
        """

    def rank_collectives(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Communication of each rank by process group, operation and message size, from its trace alone.

        This works with the trace of one rank of many, where collectives, collective_bandwidth and other
        queries across ranks have no rows. The durations of a rank include the time that it waits for the
        others. So the shortest duration is an upper bound of the transfer time, and the bandwidth from
        it is a lower bound.

        A kernel of a library that gives the profiler no arguments, such as vLLM's own all-reduce, has
        its short name, and no process group and no bytes.

        bytes is the larger one of input and output. busbw_lower_bound_gbps is bytes * factor / min_ns,
        with the factor of the view bus_factors for the group's size. An all-to-all with splits has none,
        since one rank does not show how much the others send.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, process_group, name, dtype, bytes:
            job                     VARCHAR, run of a program
            rank                    INTEGER, rank of the process
            process_group           VARCHAR, name of the process group; NULL: not recorded
            name                    VARCHAR, collective, as PyTorch names it, or the kernel's short name
            dtype                   VARCHAR, data type; NULL: not recorded
            bytes                   BIGINT, size of the message; NULL for a barrier, and if the data type or the number of elements is not known
            group_size              BIGINT, ranks in the group; the largest number if several groups have this name; NULL: not recorded
            count                   BIGINT, kernels
            total_ns                BIGINT, sum of their durations, waits included
            mean_ns                 BIGINT, mean duration
            min_ns                  BIGINT, shortest duration
            p50_ns                  BIGINT, median duration
            p95_ns                  BIGINT, 95th percentile of the durations
            max_ns                  BIGINT, longest duration
            bytes_total             BIGINT, sum of the sizes
            hidden_frac             DOUBLE, share of total_ns in which the device also computed
            busbw_lower_bound_gbps  DOUBLE, bytes * factor / min_ns: the bus bandwidth is at least this

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.rank_collectives()
        """

    def rank_imbalance(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Imbalance of computation, communication, idle and step time between ranks.

        The query compares these times of the ranks:

            metric                 time of a rank
            compute                time with computation
            communication          time with communication
            exposed_communication  time with communication but no computation
            memory                 time with copies or memsets
            idle                   time without activities, from a device's first
                                   activity to its last
            step_time              mean duration of the rank's steps

        Except for step_time, a rank's time is the sum over its devices. If several activities of the
        same kind run on a device at the same time, this time counts once (see temporal_breakdown).

        If a rank computes longer than the others, the other ranks wait for it in collectives. The
        communication of these other ranks then takes longer, because it includes their waits.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to compare [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, metric:
            job         VARCHAR, run of a program with traces of two ranks or more
            metric      VARCHAR, name of the time, as above
            rank_count  BIGINT, ranks that have the metric
            mean_ns     BIGINT, mean of the metric over the ranks
            min_ns      BIGINT, smallest time of a rank
            min_rank    INTEGER, rank with the smallest time; the lowest rank if several have it
            max_ns      BIGINT, largest time of a rank
            max_rank    INTEGER, rank with the largest time; the lowest rank if several have it
            imbalance   DOUBLE, max_ns / mean_ns; 1 if all ranks have the same time

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.rank_imbalance()
        """

    def straggler_blame(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        min_late_ns: int | None = 10000,
    ) -> pa.Table:
        """Root causes of late arrivals at collectives, followed from rank to rank.

        The query looks at two kinds of arrivals:
          * in an all-reduce, all-gather, reduce-scatter, all-to-all or barrier: the rank that came last
          * in a message: the side that came later

        Each of these ranks has a peer, the member in the middle of the order of arrival. If two members
        are in the middle, the peer is the one that came earlier. If several members came at the same
        time as the peer, the lowest rank of them is the peer.

        A rank is late if it came min_late_ns or more after its peer. For each late rank, the query
        compares what the late rank did with what its peer did. The comparison begins at the end of
        the previous collective of both ranks (`sync` in the drawing):

            late    [= sync =)  [====== longer kernel ======)  [= collective =)
            peer   [== sync ==)[=== kernel ===)[======== collective ==========)

        Both ranks leave `sync` at the same moment. For each of the two ranks, the query divides the time
        from this moment to the rank's arrival into computation, communication, copy and idle. If several
        kinds of activity run at the same time, this time counts only as the first of them in this order.
        The query then subtracts the peer's four times from the late rank's four times. The four
        differences add up to late_ns, even if the clocks are wrong. The largest difference gives the
        cause if it is more than half of late_ns:

            computation  longer or more kernels; kernel_name is the kernel name
                         with the largest increase in total time
            copy         longer or more copies or memsets; kernel_name is the
                         name with the largest increase in total time
            host         the device was idle longer; host_name is what the host
                         did in the middle of the longest gap, on the thread that
                         launched the activity after the gap
            waiting      the rank waited for another rank in `waited_in`, an
                         earlier collective or message
            transfer     communication took longer, and no single wait explains
                         more than half of the difference
            unexplained  no difference is more than half of late_ns, or the ranks
                         shared no earlier collective

        The rows of a chain explain one late arrival. Row hop 0 is this late arrival itself. If the cause
        of a row is waiting, the next row (hop + 1) explains the late arrival at `waited_in`. The chain
        ends (is_root) at the first row for which one of these holds:
          * The cause is not waiting: the delay began with this rank.
          * No rank was late at `waited_in` by min_late_ns or more, or `waited_in` is a collective with a
            root, such as a broadcast.
          * hop is 16.

        Args:
            only_jobs (VARCHAR[]): jobs to explain [default: all]
            only_ranks (INTEGER[]): late ranks to explain, at hop 0 [default: all]
            only_steps (BIGINT[]): steps to explain, at hop 0 [default: all]
            min_late_ns (BIGINT): ns; a rank is late if it comes at least this long after its peer [default: 10000]

        Returns:
            pyarrow.Table, one row per job, chain_id, hop:
            job             VARCHAR, run of a program
            chain_id        BIGINT, collective_id of the late arrival that the chain explains
            hop             INTEGER, 0 for the late arrival that the chain explains. If its rank was late because it waited in an earlier collective, 1 is the late arrival at that collective, and so on
            collective_id   BIGINT, number of the collective or message to which `rank` came late
            name            VARCHAR, name of the collective; `send` for a message
            process_group   VARCHAR, name of the process group
            step            BIGINT, lowest step in which a member launched its kernel; NULL outside steps
            rank            INTEGER, rank that came last
            host            VARCHAR, machine of this rank, if its trace names it
            peer            INTEGER, rank with which it is compared
            late_ns         BIGINT, how much later the rank came than the peer
            caused_wait_ns  BIGINT, sum of all members' waits at the collective or message
            cause           VARCHAR, computation, copy, host, waiting, transfer or unexplained
            cause_ns        BIGINT, how much more time the rank spent on the cause than the peer did; NULL if unexplained
            cause_frac      DOUBLE, cause_ns / late_ns, at most 1
            event_id        BIGINT, event_id of the GPU activity that stands for the cause: the longest activity named kernel_name, the activity after the longest idle gap, or the collective with the longest wait
            kernel_name     VARCHAR, kernel or copy with the largest increase in total time; NULL unless the cause is computation or copy
            op_name         VARCHAR, operator that launched the activity in event_id; NULL unless the cause is computation, copy or host
            host_name       VARCHAR, what the host did while the device was idle; NULL unless the cause is host
            waited_in       BIGINT, collective_id of the collective or message in which the rank waited; NULL unless the cause is waiting
            is_root         BOOLEAN, whether the row is the last one of its chain

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.straggler_blame()
        """

    def stragglers(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        min_score: float | None = 0.01,
    ) -> pa.Table:
        """How often each rank is last, what that costs, and which are stragglers.

        In each all-reduce, all-gather, reduce-scatter, all-to-all or barrier, the rank with the shortest
        duration came last. The durations of the other ranks show how long they waited for the last rank.
        The query leaves out collectives with a root, because not all of their members wait for one rank.
        Messages count only in wait_ns and own_delay_ns.

        In each collective, some rank is last. A rank is a straggler only if all three conditions hold:
          * It is last too often: z_score is at least 3. If the n members of a collective are equally
            fast, each of them is last in 1/n of the collectives. z_score is the number of standard
            deviations by which last_count exceeds this expected count. A z_score of 3 is almost never
            chance.
          * It is costly: `score` is at least `min_score`.
          * It causes the delay itself: own_delay_ns is positive and at least half of delay_ns. Otherwise
            the rank is late mainly because it waited itself, for example in another process group.
            straggler_blame follows a delay from collective to collective.

        `score` is how much of the other ranks' time is lost in exposed waits for this rank:

            score = caused_exposed_wait_ns / sum of the other ranks' spans

        A rank's span lasts from the start of its first activity to the end of its last. If only_steps is
        given, only the activities of these steps count.

        If the trace rounds durations to whole microseconds, several ranks can have the shortest
        duration. A hash of collective and rank then picks the last rank, so that rank numbers do not
        matter.

        HTA's get_potential_stragglers uses another method:
          * It chooses the NCCL kernel whose duration differs most between ranks. It then picks the
            num_candidates ranks on which this kernel starts last, even if no rank waits for them.
          * It recognises NCCL kernels by the names that they had before 2023. With newer names, it
            finds none of them and fails.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]
            only_steps (BIGINT[]): collectives of these steps [default: all]
            min_score (DOUBLE): lowest score of a straggler: share of the other ranks' time [default: 0.01]

        Returns:
            pyarrow.Table, one row per job, rank:
            job                     VARCHAR, run of a program
            rank                    INTEGER, rank of the process
            host                    VARCHAR, machine of the rank, if its trace names it
            position                BIGINT, position in the job, from 1: first the ranks that cause the delay themselves, then the other ranks, both with the highest score first
            collective_count        BIGINT, collectives of these kinds that the rank took part in
            last_count              BIGINT, collectives to which the rank came last, while other ranks waited
            last_frac               DOUBLE, last_count / collective_count
            z_score                 DOUBLE, standard deviations by which last_count exceeds chance
            caused_wait_ns          BIGINT, sum of the other ranks' waits for this rank
            caused_exposed_wait_ns  BIGINT, part of caused_wait_ns without computation on the waiting ranks' devices; NULL in archives that an earlier hta_sql wrote
            delay_ns                BIGINT, delay that the rank caused: in each collective to which it came last, the mean wait of the other ranks; added up over these collectives
            wait_ns                 BIGINT, the rank's own waits for other ranks, in all collectives and messages that count
            own_delay_ns            BIGINT, delay that does not come from waits: in each step, the step's delay_ns minus its wait_ns, or 0 if this is negative; added up over steps. Time outside steps counts as one step
            score                   DOUBLE, share of the other ranks' time in which they wait for this rank and do not compute, as above; NULL if caused_exposed_wait_ns is NULL
            is_straggler            BOOLEAN, whether the rank is last too often, is costly, and causes the delay itself

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.stragglers()
        """

    def annotation_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Count and time of each annotated stage, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A stage is all annotations of one name on the host, made by the program or its libraries: for
        example forward, backward, an optimizer's step or loading of data. All steps are one stage,
        whatever their numbers, such as ProfilerStep. The time of an annotation is its duration on its
        own thread, including the annotations inside it.

        A stage's kernels are all GPU activities launched in the stage, at any depth. These include the
        activities that autograd threads launch while the main thread is in the stage:

            main thread  [ ProfilerStep                     )
                         [ forward )[ backward   )[ optimizer)
            launches        1 2                      5
            autograd                   3  4

            stage         kernels
            forward       1 2
            backward      3 4
            optimizer     5
            ProfilerStep  1 2 3 4 5

        If annotations of one name are nested, each annotation's duration counts, but each GPU activity
        counts once.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        annotations that begin in steps, divided by the number of steps. For example, 10 steps on each of
        4 ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts.

        HTA's TraceDiff.compare_traces lists each step under its own name, such as ProfilerStep#3.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]

        Returns:
            pyarrow.Table, one row per name:
            name               VARCHAR, name of the annotation
            base_count         BIGINT, how often the stage is entered in the base
            test_count         BIGINT, how often the stage is entered in the test
            diff_count         BIGINT, test_count - base_count
            base_total_ns      BIGINT, sum of the durations in the base
            test_total_ns      BIGINT, sum of the durations in the test
            diff_total_ns      BIGINT, test_total_ns - base_total_ns
            base_mean_ns       BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns       BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns       BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_kernel_count  BIGINT, GPU activities launched in the stage in the base
            test_kernel_count  BIGINT, GPU activities launched in the stage in the test
            diff_kernel_count  BIGINT, test_kernel_count - base_kernel_count
            base_kernel_ns     BIGINT, sum of the durations of these activities in the base
            test_kernel_ns     BIGINT, sum of the durations of these activities in the test
            diff_kernel_ns     BIGINT, test_kernel_ns - base_kernel_ns
            base_per_step_ns   BIGINT, time of annotations in steps of the base, per step and rank
            test_per_step_ns   BIGINT, time of annotations in steps of the test, per step and rank
            diff_per_step_ns   BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac          DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change             VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.annotation_diff()
        """

    def baseline(
        self,
        *,
        newest_job: str | None = None,
        job_contains: str | None = None,
        run_limit: int | None = 10,
        short_names: bool | None = True,
    ) -> pa.Table:
        """Step and kernel times of earlier runs, and the interval expected for the next run.

        A run is a job of the archive. The query takes the last `run_limit` jobs that meet all of these
        conditions:
          * The job began before `newest_job`.
          * The job ran on the same kind of GPU as `newest_job`.
          * The job had the same number of ranks as `newest_job`.
          * The job's name contains `job_contains`, if that is given.

        If two jobs began at the same time, or if a start is not known, the first job by name counts as
        the earlier one. The query assumes that the jobs are runs of the same program. If the archive has
        runs of several programs, select one program with `job_contains`.

            kind    name                 value of a run
            step    metric of step_diff  median over the run's steps; the value of
                                         a step is the mean over its ranks
            kernel  name of the kernel   sum of the durations of its calls in
                                         steps, per step and rank

        If a run has no steps, its values cover the whole trace, per rank, and it has no step_time. If a
        run does not have a kernel, the kernel's value in that run is 0.

        The interval from low_ns to high_ns contains the value of one more run in at least 995 of 1,000
        cases. The query computes it with Student's t around the trimmed mean of the runs. With five runs
        or more, the trimmed mean leaves out a fifth of the runs at each end, rounded down. A time is not
        negative, so the interval begins at 0 or later. `regressions` compares the newest run with it.

        Args:
            newest_job (VARCHAR): newest run; only earlier runs count [default: the job that began last]
            job_contains (VARCHAR): only jobs whose names contain this [default: all]
            run_limit (INTEGER): maximum number of earlier runs; the latest ones count [default: 10]
            short_names (BOOLEAN): kernel names without template arguments and parameters [default: true]

        Returns:
            pyarrow.Table, one row per kind, name:
            kind       VARCHAR, step or kernel
            name       VARCHAR, metric of the step, or name of the kernel
            run_count  BIGINT, earlier runs that have a value: for step_time, the runs with steps
            mean_ns    BIGINT, trimmed mean of the runs' values
            median_ns  BIGINT, median of the runs' values
            mad_ns     BIGINT, median absolute deviation of the runs' values from their median
            low_ns     BIGINT, lower end of the expected interval; NULL if run_count is 1
            high_ns    BIGINT, upper end of the expected interval; NULL if low_ns is NULL
            min_ns     BIGINT, smallest value of a run
            max_ns     BIGINT, largest value of a run
            first_job  VARCHAR, earliest run that the query takes
            last_job   VARCHAR, latest run that the query takes

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.baseline()
        """

    def category_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
        by_kernel: bool | None = False,
        short_names: bool | None = False,
    ) -> pa.Table:
        """Time of each kernel category, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            category     base       test       diff_per_step_ns
            gemm         2 x 30 us  2 x 40 us  20,000
            elementwise  5 x 10 us  -          -50,000
            compiled     -          1 x 15 us  15,000

        In this example, each side has one step on one rank. The base runs five elementwise kernels, for
        10 us each. In the test, one kernel of a compiler does their work.

        category_breakdown explains the categories. Times are sums of durations, so activities that run
        at the same time each count in full.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
        ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts.

        With `by_kernel`, a row is one combination of category and kernel. A kernel can be in several
        categories, since the operator that launches it can decide.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]
            by_kernel (BOOLEAN): one row per category and kernel instead of per category [default: false]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per category, name:
            category          VARCHAR, kernel category, such as gemm
            name              VARCHAR, name of the kernel, copy or memset; NULL without by_kernel
            base_count        BIGINT, calls in the base
            test_count        BIGINT, calls in the test
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum of the durations in the base
            test_total_ns     BIGINT, sum of the durations in the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_frac         DOUBLE, base_total_ns / sum of base_total_ns over all rows; NULL if the sum is 0
            test_frac         DOUBLE, test_total_ns / sum of test_total_ns over all rows; NULL if the sum is 0
            base_per_step_ns  BIGINT, time of activities in steps of the base, per step and rank
            test_per_step_ns  BIGINT, time of activities in steps of the test, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change            VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.category_diff()
        """

    def collective_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Count, time and waiting of collectives and messages, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        The kernel of a collective or message runs while the rank waits for other ranks and while data is
        transferred. If at least two members are in the archive, the query separates waiting from
        transfer, as collective_members does:

            transfer time  = shortest duration of a member
            member's wait  = member's duration - transfer time

        For example, if the members take 30 us and 50 us, the transfer time is 30 us, and the second
        member waits for 20 us. These times do not depend on the clocks of the ranks. In each
        job, the query pairs members over all ranks, even if only some ranks are selected.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the kernels
        launched in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
        40 steps. For a side without steps, these columns are the total time divided by the number of
        ranks. `change` compares only the counts.

        HTA's TraceDiff.compare_traces compares these kernels by their names only.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]

        Returns:
            pyarrow.Table, one row per name, dtype, bytes, group_size:
            name                   VARCHAR, collective or message, as PyTorch names it
            dtype                  VARCHAR, data type of the elements
            bytes                  BIGINT, size of the rank's input or output, whichever is larger; NULL if the data type or the number of elements is not known
            group_size             BIGINT, ranks in the process group
            base_count             BIGINT, kernels in the base
            test_count             BIGINT, kernels in the test
            diff_count             BIGINT, test_count - base_count
            base_total_ns          BIGINT, sum of the durations in the base, including waits
            test_total_ns          BIGINT, sum of the durations in the test, including waits
            diff_total_ns          BIGINT, test_total_ns - base_total_ns
            base_mean_ns           BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns           BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns           BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_mean_transfer_ns  BIGINT, mean transfer time of the paired kernels in the base; NULL if no kernel is paired
            test_mean_transfer_ns  BIGINT, mean transfer time of the paired kernels in the test; NULL if no kernel is paired
            diff_mean_transfer_ns  BIGINT, test_mean_transfer_ns - base_mean_transfer_ns
            base_wait_ns           BIGINT, sum of the waits of paired kernels in the base; NULL if no kernel is paired
            test_wait_ns           BIGINT, sum of the waits of paired kernels in the test; NULL if no kernel is paired
            diff_wait_ns           BIGINT, test_wait_ns - base_wait_ns
            base_per_step_ns       BIGINT, time of kernels in steps of the base, per step and rank
            test_per_step_ns       BIGINT, time of kernels in steps of the test, per step and rank
            diff_per_step_ns       BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac              DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change                 VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collective_diff()
        """

    def comparability(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Whether two jobs can be compared, and what weakens the comparison.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            name        condition                                        if it fails
            gpu         both run on the same kind of GPU                 prevents
            world_size  both programs have the same number of ranks      prevents
            activities  both have GPU activities, or both have none      prevents
            steps       both have steps, or both have none               prevents
                        both have three steps or more, to measure noise  weakens
            shapes      both have operators, or both have none           prevents
                        both have recorded shapes, or both have none     weakens
                        operators run on the same shapes                 prevents
            ranks       both have the same number of traced ranks        weakens
            stacks      both have Python stacks, or both have none       weakens
            traces      all traces are complete, without lost events     weakens

        A call of an operator has a match if the other side calls an operator with the same name on the
        same shapes. The operators run on different shapes if, on either side, fewer than half of the
        calls with recorded shapes have a match. If only a few operators run on other shapes, diff_causes
        reports them as causes.

        If a side does not record gpu or world_size, the value is NULL and the effect is none. Recording
        Python stacks slows the host. If steps are selected, only `steps`, `shapes` and `stacks` cover
        just these steps. The other values cover whole traces.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]

        Returns:
            pyarrow.Table, one row per name:
            name        VARCHAR, property that is compared, as above
            base_value  VARCHAR, value of the base
            test_value  VARCHAR, value of the test
            effect      VARCHAR, none; weakens: read the results with care; prevents: the two sides measure different things
            reason      VARCHAR, reason in words; NULL if the effect is none

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.comparability()
        """

    def diff_causes(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Ranked causes of the time difference between two jobs, beyond noise.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A change that follows from another change is not a cause. For example, if an operator is called
        more often, the operators and kernels inside it also run more often. If shapes change, kernels
        take more or less time. The query reports each cause once, at the place where it begins:

            cause         name        what changes
            calls         operator    how often it runs per call of its caller
            shapes        operator    shapes of the inputs
            kernels       operator    kernels that the operator launches on the
                                      same shapes
            kernel_time   kernel      duration per call, in the same operator on
                                      the same shapes
            transfer      collective  transfer time without waits, of a collective
                                      or message of the same size and group size
            host_time     operator    host time per call, without the operators,
                                      runtime calls and driver calls inside
            data_loading  annotation  time to fetch the next batch, in annotations
                                      with DataLoader in their names

        An operator's caller is the operator around it. If a backward operator has no operator around it,
        its caller is its forward operator. The backward pass of a new operator is therefore part of the
        new operator. Operators are compared if three names are equal: their own, that of the caller, and
        that of the caller's caller. A kernel launched outside operators is compared
        by its own name. If its number of calls changes, `cause` is kernels and `name` is the kernel's
        name. If one side has no recorded shapes, all calls count as calls on the same shapes.

        Calls, shapes and kernels are compared by rates:
          * calls: how often an operator runs per call of its caller. For outermost operators, how often
            it runs per rank.
          * shapes: share of the operator's calls that have these shapes.
          * kernels: how often a kernel runs per call of the operator on the same shapes. For kernels
            outside operators, how often it runs per rank.

        The query computes each rate in each step. If a rate does not vary from step to step on either
        side, any difference between the two sides is a cause. An example is an operator that runs twice
        per call in all steps of the base, and three times in all steps of the test. Otherwise, the
        difference has to exceed the noise of the steps, which is measured as in step_diff. A change of
        `calls` (calls per call of the caller) is a cause only if the calls per step change too.

        The other causes are compared by the duration per call. A duration has to change by at least both
        of these limits:

            cause                    diff_ratio  |diff_per_step_ns|
            kernel_time, transfer    3 %         0.1 % of the base's mean step
            host_time, data_loading  10 %        1 % of the base's mean step

        diff_ratio is the relative change per call. diff_per_step_ns is the change of all calls together,
        per step and rank. For example, if all kernels take 2 % longer on a slower GPU, the query reports
        no cause. If the base has no steps, host_time and data_loading are not reported, and kernel_time
        and transfer have only the limit of 3 %.

        For host_time and data_loading, the change also has to exceed the noise of the steps.

        For kernel_time and transfer, the change also has to exceed the noise of single calls: how much
        the durations of calls vary on each side. In addition, it has to exceed the noise of the steps,
        or to pass this test, which compares a kernel with all kernels, or a transfer with all transfers:

            ratio     duration per call in the test / duration per call in the base
            relative  ratio / median ratio of all kernels, or of all transfers

        For example, if a kernel takes 10 % longer and the median kernel takes 4 % longer, relative is
        1.10 / 1.04 = 1.058. A change passes this test if all three hold:
          * |ratio - 1| exceeds the noise of single calls.
          * |relative - 1| exceeds the noise of single calls.
          * |relative - 1| exceeds the noise of `relative` from step to step. With one step on each side,
            this condition does not apply.

        This test finds a change even if all kernels vary together from step to step.

        The times of a row are GPU time or host time:
          * host_time and data_loading: host time
          * kernels, kernel_time and transfer: GPU time
          * calls and shapes: time of all GPU activities launched in the operator, at any depth; if there
            are none, the operator's host time

        For transfer, a collective is one call, not one call per rank. Its calls and times per step are
        divided by the number of ranks compared, like those of all causes. For example, if 8 ranks take
        part in 16 collectives per step, the row has 16 / 8 = 2 calls per step and rank.

        diff_per_step_ns depends on the cause:

            shapes, kernels  test_per_step_ns - base_per_step_ns
            calls            added calls * mean time per call over both sides
            all others       test_per_step_ns minus the time that the test's calls
                             would take at the base's mean durations

        The added calls are (test rate - base rate) * calls of the caller per step and rank in the test.

        The values of diff_per_step_ns do not add up to the difference of the step times, since GPU
        activities overlap with each other and with work on the host. what_if computes the time that a
        step would save if a kernel or operator were faster.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: all; the whole trace if there are no steps]
            test_steps (BIGINT[]): steps of the test [default: all; the whole trace if there are no steps]

        Returns:
            pyarrow.Table, one row per cause, name:
            cause             VARCHAR, what changes, as above
            name              VARCHAR, operator, kernel, collective or annotation that changes; for transfer: name, number of elements, data type and group size
            position          BIGINT, 1 for the largest |diff_per_step_ns|
            inside            VARCHAR, callers of the operator, or operators that launch the kernel; only the first three by name if there are more; NULL if there are none
            base_detail       VARCHAR, shapes or kernels that are more frequent in the base; NULL for other causes, or if there are none
            test_detail       VARCHAR, shapes or kernels that are more frequent in the test; NULL for other causes, or if there are none
            base_calls        DOUBLE, calls per step and rank in the base; if cause is kernels: calls of the changed kernels
            test_calls        DOUBLE, calls per step and rank in the test; if cause is kernels: calls of the changed kernels
            time_of           VARCHAR, gpu or host: whether the next three columns are GPU time or host time
            base_per_step_ns  BIGINT, time per step and rank in the base
            test_per_step_ns  BIGINT, time per step and rank in the test
            diff_per_step_ns  BIGINT, time that the cause adds per step and rank, as above
            diff_ratio        DOUBLE, relative change of the duration per call: 0.2 is 20 % longer; NULL for calls, shapes and kernels
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.diff_causes()
        """

    def kernel_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
        by_shape: bool | None = False,
        short_names: bool | None = False,
    ) -> pa.Table:
        """Count and time of each kernel, copy and memset, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            kernel   base       test       change     diff_per_step_ns
            gemm     2 x 30 us  2 x 40 us  unchanged  20,000
            relu     1 x 20 us  -          deleted    -20,000
            clone    -          1 x 20 us  added      20,000

        In this example, each side has one step on one rank. The base calls gemm twice, for 30 us each.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
        ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that
        exceed noise.

        With `by_shape`, a row is one combination of name, grid and block.

        HTA's TraceDiff.compare_traces returns the same values for devices, but cuts durations to whole
        microseconds. HTA also counts synchronisations and annotations that are drawn on streams.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]
            by_shape (BOOLEAN): one row per name, grid and block instead of per name [default: false]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per name, grid, block:
            name              VARCHAR, name of the kernel, copy or memset
            grid              BIGINT[], blocks in x, y, z; NULL without by_shape
            block             BIGINT[], threads of a block in x, y, z; NULL without by_shape
            kind              VARCHAR, computation, communication or memory
            base_count        BIGINT, calls in the base
            test_count        BIGINT, calls in the test
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum of the durations in the base
            test_total_ns     BIGINT, sum of the durations in the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_per_step_ns  BIGINT, time of activities in steps of the base, per step and rank
            test_per_step_ns  BIGINT, time of activities in steps of the test, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change            VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_diff()
        """

    def module_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Host and GPU time of each nn.Module, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        Modules are compared by their place in the model. module_stats explains these places and which
        GPU activities belong to a module. A module's kernel time includes the activities of all modules
        that run in it. Only columns with `self` in their names leave out these inner modules. The row
        without a module has the activities that belong to no module.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the kernel time of
        everything that is selected, inside and outside steps, divided by the number of steps. For
        example, 10 steps on each of 4 ranks are 40 steps. For a side without steps, the kernel time is
        divided by the number of ranks. `change` compares only the number of calls.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]

        Returns:
            pyarrow.Table, one row per module:
            module                   VARCHAR, the modules around the calls, outermost first, and then the module itself, joined by /; NULL for activities of no module
            base_count               BIGINT, calls in the base
            test_count               BIGINT, calls in the test
            diff_count               BIGINT, test_count - base_count
            base_total_ns            BIGINT, sum of the calls' host durations in the base
            test_total_ns            BIGINT, sum of the calls' host durations in the test
            diff_total_ns            BIGINT, test_total_ns - base_total_ns
            base_mean_ns             BIGINT, mean host duration of a call in the base; NULL if base_count is 0
            test_mean_ns             BIGINT, mean host duration of a call in the test; NULL if test_count is 0
            diff_mean_ns             BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_forward_kernel_ns   BIGINT, sum of the durations of GPU activities launched in the forward pass in the base
            test_forward_kernel_ns   BIGINT, sum of the durations of GPU activities launched in the forward pass in the test
            diff_forward_kernel_ns   BIGINT, test_forward_kernel_ns - base_forward_kernel_ns
            base_backward_kernel_ns  BIGINT, sum of the durations of GPU activities launched in the backward pass in the base
            test_backward_kernel_ns  BIGINT, sum of the durations of GPU activities launched in the backward pass in the test
            diff_backward_kernel_ns  BIGINT, test_backward_kernel_ns - base_backward_kernel_ns
            base_self_kernel_ns      BIGINT, part of base_forward_kernel_ns + base_backward_kernel_ns that belongs to no inner module
            test_self_kernel_ns      BIGINT, part of test_forward_kernel_ns + test_backward_kernel_ns that belongs to no inner module
            diff_self_kernel_ns      BIGINT, test_self_kernel_ns - base_self_kernel_ns
            base_per_step_ns         BIGINT, base_forward_kernel_ns + base_backward_kernel_ns, per step and rank
            test_per_step_ns         BIGINT, test_forward_kernel_ns + test_backward_kernel_ns, per step and rank
            diff_per_step_ns         BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac                DOUBLE, |diff_self_kernel_ns| / sum of |diff_self_kernel_ns| over all rows; NULL if the sum is 0
            change                   VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.module_diff()
        """

    def op_alignment(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Two jobs aligned by operator: which operators are new, gone or changed, and their cost.

        The query aligns a base (before) with a test (after). By default, the base is the first job by
        name, and the test is the last job by name. From each job, the query takes the first step on the
        lowest rank, unless other ranks or steps are selected. If that rank has no steps, the query takes
        its whole trace. If several ranks or steps are selected, operators are listed rank by rank and
        step by step.

            base          test          relation   position
            mm  [8,8]     mm  [8,8]     matched    1
            mul           -             removed    2
            add           add           matched    3
            -             clone         inserted   4
            mm  [8,8]     mm  [8,16]    reshaped   5
            gelu [8,8]    silu [8,8]    renamed    6

        Within a step, operators are listed thread by thread, and in a thread by their start. The thread
        of the ProfilerStep annotation comes first. The other threads follow in the order of their first
        operators.

        The query pairs operators in three passes. Each pass pairs operators that earlier passes left
        over. Pairs never cross: they are in the same order on both sides:

            relation  which operators
            matched   same name and same shapes; as many as possible match: they
                      are a longest common subsequence of the two sides
            reshaped  same name, other shapes, in the same gap between matched
                      operators
            renamed   same shapes, other name, in the same gap between matched or
                      reshaped operators
            removed   left over in the base
            inserted  left over in the test

        If one side has no shapes at all, operators match by name only.

        Operators without recorded shapes count as renamed only if their gap has as many operators in the
        base as in the test. For example, two operators are paired with two, but not with three.

        An operator's kernels are the GPU activities that it launches itself, with no operator in
        between.

        A Python function of hta_sql computes the longest common subsequence, exactly. For 100,000
        operators this takes a few seconds. DuckDB's shell does not have this function and cannot run the
        query.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: the lowest]
            test_ranks (INTEGER[]): ranks of the test [default: the lowest]
            base_steps (BIGINT[]): steps of the base [default: the first; the whole trace if there are no steps]
            test_steps (BIGINT[]): steps of the test [default: the first; the whole trace if there are no steps]

        Returns:
            pyarrow.Table, one row per position:
            position           BIGINT, place in the merged order of both sides, from 1
            relation           VARCHAR, matched, reshaped, renamed, removed or inserted
            base_name          VARCHAR, operator in the base; NULL if inserted
            test_name          VARCHAR, operator in the test; NULL if removed
            base_dur_ns        BIGINT, host duration in the base
            test_dur_ns        BIGINT, host duration in the test
            diff_dur_ns        BIGINT, test_dur_ns - base_dur_ns; NULL if inserted or removed
            kernel_change      VARCHAR, change of the list of kernels: same, replaced, added or removed; NULL if neither side has kernels
            base_kernels       VARCHAR, short names of the operator's kernels in the base, in order, joined by |
            test_kernels       VARCHAR, short names of the operator's kernels in the test, in order, joined by |
            base_kernel_count  BIGINT, number of these kernels in the base
            test_kernel_count  BIGINT, number of these kernels in the test
            base_kernel_ns     BIGINT, sum of the durations of these kernels in the base
            test_kernel_ns     BIGINT, sum of the durations of these kernels in the test
            diff_kernel_ns     BIGINT, test_kernel_ns - base_kernel_ns, with 0 for a side without the operator
            base_input_dims    VARCHAR, sizes of the operator's inputs in the base, as JSON
            test_input_dims    VARCHAR, sizes of the operator's inputs in the test, as JSON
            base_rank          INTEGER, rank of the operator in the base
            test_rank          INTEGER, rank of the operator in the test
            base_event_id      BIGINT, event_id of the operator in the base
            test_event_id      BIGINT, event_id of the operator in the test

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_alignment()
        """

    def op_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
        by_shape: bool | None = False,
        only_cats: Iterable[str] | None = None,
    ) -> pa.Table:
        """Count and time of each operator and host call, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        All host calls count: operators, annotations, Python functions, runtime and driver calls. With
        `only_cats := ['cpu_op']`, only operators count. The total time of a call includes the calls
        inside it. Its self time leaves these calls out, so the self times of different rows can be added
        up. An operator's kernels are the GPU activities that it launches itself, with no operator in
        between, as self_kernel_ns in op_stats. Other calls have no kernels. Calls in replays of CUDA
        graphs count, too, if they are known from the capture of the graph. They take no time of the
        host.

        The name of a Python function is without the number of its line, since any change above a
        function moves its line.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the calls
        that begin in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
        40 steps. For a side without steps, these columns are the total time divided by the number of
        ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that exceed
        noise.

        With `by_shape`, a row is one combination of name and shapes of the inputs. If an operator runs
        on other shapes in the test, the result has two rows: `change` is deleted in the row with the old
        shapes, and added in the row with the new shapes. input_dims is NULL if the profiler did not
        record shapes.

        HTA's TraceDiff.compare_traces and ops_diff return the same values for the host, but cut
        durations to whole microseconds.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]
            by_shape (BOOLEAN): one row per name and shapes instead of per name [default: false]
            only_cats (VARCHAR[]): categories of the trace to count, such as cpu_op [default: all]

        Returns:
            pyarrow.Table, one row per name, input_dims:
            name                    VARCHAR, name of the operator or call
            input_dims              VARCHAR, sizes of the inputs, as JSON; NULL without by_shape
            cat                     VARCHAR, category in the trace; if there are several, the first by name
            base_count              BIGINT, calls in the base
            test_count              BIGINT, calls in the test
            diff_count              BIGINT, test_count - base_count
            base_total_ns           BIGINT, sum of the durations in the base
            test_total_ns           BIGINT, sum of the durations in the test
            diff_total_ns           BIGINT, test_total_ns - base_total_ns
            base_mean_ns            BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns            BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns            BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_self_ns            BIGINT, self time: sum of the durations in the base, without the calls inside
            test_self_ns            BIGINT, self time: sum of the durations in the test, without the calls inside
            diff_self_ns            BIGINT, test_self_ns - base_self_ns
            base_self_kernel_count  BIGINT, GPU activities that the operator launches itself in the base
            test_self_kernel_count  BIGINT, GPU activities that the operator launches itself in the test
            diff_self_kernel_count  BIGINT, test_self_kernel_count - base_self_kernel_count
            base_self_kernel_ns     BIGINT, sum of the durations of these activities in the base
            test_self_kernel_ns     BIGINT, sum of the durations of these activities in the test
            diff_self_kernel_ns     BIGINT, test_self_kernel_ns - base_self_kernel_ns
            base_per_step_ns        BIGINT, time of calls in steps of the base, per step and rank
            test_per_step_ns        BIGINT, time of calls in steps of the test, per step and rank
            diff_per_step_ns        BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac               DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change                  VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_diff()
        """

    def regressions(
        self,
        *,
        newest_job: str | None = None,
        job_contains: str | None = None,
        run_limit: int | None = 10,
        short_names: bool | None = True,
    ) -> pa.Table:
        """Changes beyond noise in the newest run of a program, compared with earlier runs, ranked.

        The help of `baseline` explains which earlier runs count, how the value of a run is computed, and
        what the expected interval is.

        `change` is the first of these values that applies:
          * added: no earlier run has the kernel.
          * deleted: the newest run does not have the kernel, and low_ns is above 0.
          * NULL: only one earlier run has a value, and the newest run's value differs from it. The noise
            is not known.
          * increased or decreased: the newest run's value is outside the expected interval and differs
            from the mean by at least 1 %.
          * unchanged: all other cases.

            earlier runs        x  xx x  x
            expected        [=============)         from low_ns to high_ns
            newest run                         o    change: increased

        step_time has no row if the newest run or all earlier runs have no steps. Without earlier runs,
        the query returns no rows.

        Args:
            newest_job (VARCHAR): newest run [default: the job that began last]
            job_contains (VARCHAR): only jobs whose names contain this [default: all]
            run_limit (INTEGER): maximum number of earlier runs; the latest ones count [default: 10]
            short_names (BOOLEAN): kernel names without template arguments and parameters [default: true]

        Returns:
            pyarrow.Table, one row per kind, name:
            kind        VARCHAR, step or kernel, as in baseline
            name        VARCHAR, metric of the step, or name of the kernel
            position    BIGINT, place in the list, from 1: first the rows that changed, then all others. Both parts are sorted by |diff_ns|, the largest first.
            change      VARCHAR, added, deleted, increased, decreased or unchanged; NULL if the noise is not known
            test_ns     BIGINT, value of the newest run
            mean_ns     BIGINT, trimmed mean of the earlier runs' values
            diff_ns     BIGINT, test_ns - mean_ns
            diff_ratio  DOUBLE, diff_ns / mean_ns: 0.03 is 3 % more
            low_ns      BIGINT, lower end of the expected interval; NULL if run_count is 1
            high_ns     BIGINT, upper end of the expected interval; NULL if low_ns is NULL
            run_count   BIGINT, earlier runs that have a value: for step_time, the runs with steps
            job         VARCHAR, name of the newest run

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.regressions()
        """

    def step_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Step time and its parts, compared between two jobs and tested against noise.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A row is one metric of a step. Rows are in this order:

            step_time              duration of the step on the host
            gpu_span               from the first activity's start to the last
                                   activity's end
            gpu_busy               time with at least one activity
            idle                   time in gpu_span without any activity
            compute                time with computation
            exposed_communication  time with communication but no computation
            exposed_memory         time with copies or memsets and nothing else
            communication          time with communication
            memory                 time with copies or memsets
            kernel_sum             sum of the activities' durations

            gpu_span = idle + compute + exposed_communication + exposed_memory

        All metrics except step_time cover the activities launched in the step, as in step_breakdown, and
        are summed over a rank's devices. The value of a metric in one step is the mean over the ranks. A
        metric that is always 0 has no row.

        If a side has no steps, each metric has one value on that side, which covers the whole trace.
        step_time has no value on that side.

        Yuen's test (1974) decides whether the steps of the two sides differ. It compares the difference
        of the two trimmed means with the scatter of the steps. A trimmed mean leaves out a fifth of the
        values at each end, rounded down.

        The interval from diff_low_ns to diff_high_ns contains the true difference in at least 995 of
        1,000 cases. This holds if the noise from run to run is no larger than the noise from step to
        step. `regressions` uses the noise from run to run. With three steps on each side, a difference
        is significant if it is at least seven times the standard deviation of a step. With one step on
        each side, the noise is not known, and the interval is NULL.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: all; the whole trace if there are no steps]
            test_steps (BIGINT[]): steps of the test [default: all; the whole trace if there are no steps]

        Returns:
            pyarrow.Table, one row per name:
            name            VARCHAR, metric, as above
            base_count      BIGINT, steps of the base in which the metric has a value
            test_count      BIGINT, steps of the test in which the metric has a value
            diff_count      BIGINT, test_count - base_count
            base_total_ns   BIGINT, sum of the values over the steps of the base
            test_total_ns   BIGINT, sum of the values over the steps of the test
            diff_total_ns   BIGINT, test_total_ns - base_total_ns
            base_mean_ns    BIGINT, trimmed mean over the steps of the base; NULL if base_count is 0
            test_mean_ns    BIGINT, trimmed mean over the steps of the test; NULL if test_count is 0
            diff_mean_ns    BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            diff_low_ns     BIGINT, lower end of the interval of diff_mean_ns; NULL if the noise is not known
            diff_high_ns    BIGINT, upper end of the interval of diff_mean_ns; NULL if the noise is not known
            diff_ratio      DOUBLE, diff_mean_ns / base_mean_ns: 0.03 is 3 % more
            base_median_ns  BIGINT, median over the steps of the base
            test_median_ns  BIGINT, median over the steps of the test
            base_mad_ns     BIGINT, median absolute deviation of the steps of the base from their median
            test_mad_ns     BIGINT, median absolute deviation of the steps of the test from their median
            is_significant  BOOLEAN, whether the interval excludes 0; NULL if the noise is not known
            change          VARCHAR, added or deleted if only one side has values; increased or decreased if significant; else unchanged; NULL if the noise is not known and the means differ

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.step_diff()
        """

    def temporal_diff(
        self,
        *,
        base_job: str | None = None,
        test_job: str | None = None,
        base_ranks: int | Iterable[int] | None = None,
        test_ranks: int | Iterable[int] | None = None,
        base_steps: int | Iterable[int] | None = None,
        test_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Idle, compute and exposed time of devices, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A row is one metric, summed over devices. temporal_breakdown explains the metrics:

            span                   from the first activity's start to the last
                                   activity's end
            busy                   time with at least one activity
            idle                   time in the span without any activity
            compute                time with computation
            non_compute            busy time without computation
            exposed_communication  time with communication but no computation
            exposed_memory         time with copies or memsets and nothing else
            communication          time with communication, exposed or hidden
            memory                 time with copies or memsets, exposed or hidden

            span = idle + compute + exposed_communication + exposed_memory
            non_compute = exposed_communication + exposed_memory

        Totals cover everything that is selected, inside and outside steps. Columns with `per_step` in
        their names are means per step and rank: the totals, divided by the number of steps. For example,
        10 steps on each of 4 ranks are 40 steps. For a side without steps, the totals are divided by the
        number of ranks. `change` compares the totals.

        Args:
            base_job (VARCHAR): job of the base [default: the first by name]
            test_job (VARCHAR): job of the test [default: the last by name]
            base_ranks (INTEGER[]): ranks of the base [default: all]
            test_ranks (INTEGER[]): ranks of the test [default: all]
            base_steps (BIGINT[]): steps of the base [default: the whole trace]
            test_steps (BIGINT[]): steps of the test [default: the whole trace]

        Returns:
            pyarrow.Table, one row per name:
            name              VARCHAR, metric, as above
            base_count        BIGINT, devices with activities in the base, over all ranks
            test_count        BIGINT, devices with activities in the test, over all ranks
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum over the devices of the base
            test_total_ns     BIGINT, sum over the devices of the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean per device of the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean per device of the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_frac         DOUBLE, base_total_ns of this metric / base_total_ns of `span`
            test_frac         DOUBLE, test_total_ns of this metric / test_total_ns of `span`
            base_per_step_ns  BIGINT, base_total_ns, per step and rank
            test_per_step_ns  BIGINT, test_total_ns, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over the four metrics that add up to span; NULL for other metrics, or if the sum is 0
            change            VARCHAR, change of the total: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.temporal_diff()
        """

    def findings(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
    ) -> pa.Table:
        """What costs a job the most time, what to do about it, and how much that would gain.

        A finding is one row: a rule that has found its pattern. Rows are ordered by what they gain, so
        the first row of a job is where to look first. A rule is silent if the trace lacks what the rule
        needs; trace_quality shows what a trace lacks.

        Times are of a steady step. Long first steps, which warm up, are left out. If the trace has no
        steps, times are of the whole trace, from the first GPU activity to the last (gain_unit is
        `trace`).

        estimated_gain_ns is what a step could save. It is careful, and it assumes that all
        else stays the same. Gains of different rows do not add up. The severity follows from the gain:

            high    10 % of a step or more
            medium  3 % or more
            low     1 % or more
            info    less, or the rule has no gain

        Each moment of idle time belongs to at most one of the rules data_loading, gpu_sync,
        memory_thrash, slow_launches, stalled_after_launch, launch_overhead and host_bound.

        A step of the job takes as long as its slowest rank. So a finding on one rank gains only what
        the job gains until another rank is the slowest. If more than half of the ranks have the same
        finding, it is one row with a NULL rank, and its figures are of the rank that bounds the job: the
        rank that waits for others the least.

        The limits of all rules are rows of the view finding_thresholds.

        Args:
            only_jobs (VARCHAR[]): jobs to look at [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, rule, subject:
            job                  VARCHAR, run of a program
            rank                 INTEGER, rank with the finding; NULL if most ranks have it
            rule                 VARCHAR, name of the rule
            subject              VARCHAR, operator, kernel, call or rank that the finding is about
            severity             VARCHAR, high, medium, low or info
            title                VARCHAR, the finding in one line
            evidence             VARCHAR, sentences with the numbers of the finding
            evidence_numbers     VARCHAR, the same numbers as JSON, and the ranks
            estimated_gain_ns    BIGINT, what a step could save; NULL: the rule has no gain
            estimated_gain_frac  DOUBLE, estimated_gain_ns / median step of the rank that bounds the job, or / its time from first to last activity
            gain_unit            VARCHAR, step or trace: what the gain is of
            gain_method          VARCHAR, how the gain is estimated
            confidence           VARCHAR, high, medium or low
            advice               VARCHAR, what to do
            see                  VARCHAR, command that shows more

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.findings()
        """

    def fleet_kernels(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        top_k: int | None = 100,
        min_jobs: int | None = 1,
    ) -> pa.Table:
        """The kernels of all jobs by GPU time, and how much their speed differs by job.

        The query adds up the stored rows of job_kernels over jobs. A row is one kernel, copy or memset,
        with the operator that launched it, the shapes of the operator's arguments and the name of the
        GPU. The kernels that job_kernels adds up in one row per job (is_rest) have no row here. Their
        time counts only in the denominator of total_frac.

        Each job has one speed per row, no matter how often it calls the kernel: its mean time per call.
        If the number of operations is known, the job also has one achieved_tflops: the operations
        divided by the GPU time of the calls that do them.

        Percentiles of the mean times are not interpolated. The query sorts the mean times of the n jobs,
        the shortest first, and takes one of them:

            mean_p10_ns  mean time at place 0.1 * n, rounded up: place 3 of 25
            mean_p50_ns  mean time at place 0.5 * n, rounded up: place 13 of 25

        saved_p10_ns is the GPU time saved if every slower job took only mean_p10_ns per call.
        saved_p50_ns is the same for mean_p50_ns:

            saved_p10_ns = sum over jobs of max(0, total_ns - count * mean_p10_ns)

        Both are NULL for communication, since its kernels wait for other ranks. Both are also NULL if
        shapes are not recorded, since the row then mixes calls of all sizes. Kernels that run at the
        same time each count in full, so steps may get shorter by less than the time saved.

        Args:
            only_jobs (VARCHAR[]): jobs to add up [default: all]
            top_k (INTEGER): rows to report [default: 100]
            min_jobs (INTEGER): least number of jobs that a kernel has to run in [default: 1]

        Returns:
            pyarrow.Table, one row per device_name, kind, name, op_name, input_dims, input_types, concrete_inputs:
            device_name      VARCHAR, name of the GPU
            kind             VARCHAR, computation, communication or memory
            name             VARCHAR, name of the kernel, copy or memset
            op_name          VARCHAR, operator that launched it; NULL if there is none
            input_dims       VARCHAR, JSON: sizes of each argument of the operator
            input_types      VARCHAR, JSON: type of each argument
            concrete_inputs  VARCHAR, JSON list with one text per argument: the value of a number, boolean or list, or "" for a tensor. NULL if not recorded, or if flops are not known
            position         BIGINT, position by total_ns, 1 for the longest
            job_count        BIGINT, jobs that run the kernel
            count            BIGINT, calls of the kernel
            total_ns         BIGINT, sum of the calls' durations
            total_frac       DOUBLE, total_ns / sum of the durations of all activities of the jobs
            mean_min_ns      BIGINT, shortest of the jobs' mean times per call
            mean_p10_ns      BIGINT, 10th percentile of the jobs' mean times per call
            mean_p50_ns      BIGINT, 50th percentile of the jobs' mean times per call
            mean_max_ns      BIGINT, longest of the jobs' mean times per call
            tflops_min       DOUBLE, lowest achieved_tflops of a job, in 1e12 operations per second; NULL if no job has a value
            tflops_p50       DOUBLE, median of the jobs' achieved_tflops
            tflops_max       DOUBLE, highest achieved_tflops of a job
            saved_p10_ns     BIGINT, GPU time saved if slower jobs took mean_p10_ns per call
            saved_p50_ns     BIGINT, GPU time saved if slower jobs took mean_p50_ns per call

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.fleet_kernels()
        """

    def fleet_summary(
        self,
        *,
        by_tag: str | None = 'team',
        since_day: str | None = None,
        until_day: str | None = None,
    ) -> pa.Table:
        """How all jobs used their GPU time, by team or another tag and by week.

        The query adds up the stored rows of job_summary. There is one row for all jobs that have the
        same value of the tag and began in the same week. Times are sums, and fractions are computed from
        the sums, so each job counts in proportion to its GPU time. The query reads what `hta-sql
        materialize` has stored. Jobs without stored results are left out, with a warning.

        GPU time covers only what was traced: a week-long job with three traced steps counts with those
        three steps. It runs from the first activity of a GPU to its last. So busy_frac and idle_frac do
        not count that a GPU waits before its first activity or after its last, while the host is in a
        step. utilisation_frac counts this wait, which is outside_ns.

        Weeks begin on Monday at 0:00 UTC. If a job does not have the tag, its tag_value is NULL. A job's
        date comes from its traces, or else from its tag `time`. If a job has neither, its week is NULL.
        Such jobs are left out if since_day or until_day is given.

        Args:
            by_tag (VARCHAR): tag that groups the jobs [default: 'team']
            since_day (VARCHAR): only jobs that began on this day or later, such as 2026-01-31 [default: all]
            until_day (VARCHAR): only jobs that began before this day [default: all]

        Returns:
            pyarrow.Table, one row per tag_value, week:
            tag_value                   VARCHAR, value of the tag, such as a team; NULL: no tag
            week                        DATE, Monday of the week of the jobs' start; NULL: no date
            job_count                   BIGINT, jobs
            rank_count                  BIGINT, ranks with a trace, over these jobs
            gpu_hours                   DOUBLE, gpu_span_ns in hours
            gpu_span_ns                 BIGINT, from a GPU's first activity to its last
            outside_ns                  BIGINT, step time before a GPU's first activity or after its last; NULL: not known for all of the jobs, because an earlier hta_sql stored some results
            busy_ns                     BIGINT, GPU time with one activity or more
            compute_ns                  BIGINT, GPU time with computation
            exposed_communication_ns    BIGINT, GPU time with communication, but no computation
            exposed_memory_ns           BIGINT, GPU time with copies or memsets and nothing else
            idle_ns                     BIGINT, GPU time without any activity
            lost_gpu_ns                 BIGINT, GPU time spent waiting for late ranks, over the jobs with a known value; NULL: no such job
            lost_gpu_hours              DOUBLE, lost_gpu_ns in hours
            utilisation_frac            DOUBLE, busy_ns / (gpu_span_ns + outside_ns)
            busy_frac                   DOUBLE, busy_ns / gpu_span_ns
            compute_frac                DOUBLE, compute_ns / gpu_span_ns
            exposed_communication_frac  DOUBLE, exposed_communication_ns / gpu_span_ns
            idle_frac                   DOUBLE, idle_ns / gpu_span_ns
            lost_gpu_frac               DOUBLE, lost_gpu_ns / gpu_span_ns of the jobs with a known lost_gpu_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.fleet_summary()
        """

    def host_outliers(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        min_jobs: int | None = 2,
        min_slowdown: float | None = 0.03,
    ) -> pa.Table:
        """The GPUs of each host, and which of them are slow in job after job.

        job_ranks compares each rank's kernels with the same kernels on the job's other ranks. A
        compute_ratio of 1.2 is 20 % slower. In this query, a GPU is identified by its host and its local
        rank. Its compute_ratio is the median over its jobs, so that one odd job does not decide:

            host/local rank   h1/0   h2/0   h3/0   h4/0
            job a             1.00   1.24   1.00
            job b             1.00   1.22          0.99
            job c                    1.23   1.01   1.00
            compute_ratio     1.00   1.23   1.005  0.995

        A job on a single host compares ranks only with other ranks on that host. This finds a slow GPU,
        but not a host that is slow as a whole. Jobs on several hosts are better evidence. For each GPU,
        the query decides which jobs count:
          * A job counts only if the GPU has a compute_ratio in the job.
          * If at least `min_jobs` of these jobs ran on several hosts, the jobs on a single host do not
            count.
          * If fewer than `min_jobs` jobs count, there is too little evidence, and is_outlier is NULL.

        z_score is how far the GPU's compute_ratio x is above the median, in robust standard deviations
        (Iglewicz and Hoaglin, 1993). The medians are over all GPUs with enough evidence:

            z_score = 0.6745 (x - median) / median of |x - median|

        A GPU is an outlier if all three hold:
          * Its z_score is 3.5 or more.
          * Its compute_ratio is at least (1 + `min_slowdown`) * median.
          * Its slow_frac is above 0.5: in more than half of the jobs that count, its compute_ratio in
            the job is at least (1 + `min_slowdown`) * median.

        If more than half of the GPUs have exactly the same compute_ratio, z_score is not defined and is
        NULL. The other two conditions then decide.

        launch_ratio, late_count and lost_gpu_ns are further evidence, and do not change is_outlier. A
        rank can also be late because it has other work, or because of its place in a pipeline.

        Ranks are left out if their traces do not name a host, or if they ran nothing on a GPU.

        Args:
            only_jobs (VARCHAR[]): jobs to look at [default: all]
            min_jobs (INTEGER): least number of jobs needed to judge a GPU [default: 2]
            min_slowdown (DOUBLE): least slowdown of an outlier, 0.03 for 3 % [default: 0.03]

        Returns:
            pyarrow.Table, one row per host, local_rank:
            host                VARCHAR, machine, as named in the traces
            local_rank          BIGINT, number of the GPU on the host, as in job_ranks
            device_name         VARCHAR, name of the GPU; if jobs differ, the first by name
            job_count           BIGINT, jobs that ran on the GPU
            evidence_count      BIGINT, jobs that count for compute_ratio and is_outlier
            compute_ratio       DOUBLE, median of compute_ratio in job_ranks, over jobs that count; NULL if no job counts
            z_score             DOUBLE, robust standard deviations above the median; NULL if there is too little evidence, or if z_score is not defined
            slow_frac           DOUBLE, of the jobs that count, the share in which the GPU's compute_ratio is at least (1 + min_slowdown) * median; NULL if no job counts or no GPU has enough evidence
            is_outlier          BOOLEAN, whether all three conditions hold; NULL: too little evidence
            host_gpu_count      BIGINT, GPUs of the host on which jobs ran
            host_outlier_count  BIGINT, outliers among the host's GPUs
            extra_compute_ns    BIGINT, compared_ns - expected_ns of job_ranks, summed over the jobs that count; below 0 if the GPU is faster than typical
            launch_ratio        DOUBLE, median of launch_ratio in job_ranks, over all jobs of the GPU
            late_count          BIGINT, how often the GPU's ranks caused a late arrival at a collective or message
            lost_gpu_ns         BIGINT, GPU time that other ranks lost by these arrivals; NULL if not known
            lost_gpu_frac       DOUBLE, lost_gpu_ns / GPU time of all ranks of the GPU's jobs

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.host_outliers()
        """

    def job_kernels(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        top_k: int | None = 1000,
        short_names: bool | None = True,
    ) -> pa.Table:
        """The kernels of a job with their operators, shapes, GPU time and speed.

        A row is one kernel, copy or memset, with the operator that launched it, the shapes of the
        operator's arguments and the name of the GPU. A row adds up all ranks.

        The operator is usually the innermost one around the launch. But if op_flops counts operations
        (FLOPs) or bytes for an operator around the launch, the row has that operator. If no operator is
        around the launch, for example in CUDA graphs, op_name is NULL.

        One call of an operator may launch several kernels. The call's operations and bytes count once,
        in the row of the longest of these kernels. With equal durations, they count in the row of the
        kernel that is first in the trace. `costed_ns` is the time of all kernels of the call. So rows
        can be added up, and achieved_tflops and achieved_gbps are the rates of the operator:

            aten::mm     [=============)     1e6 operations
            gemm          [=====)            dur_ns 60: flops 1e6, costed_ns 70
            splitKreduce          [=)        dur_ns 10: flops NULL

            achieved_tflops = flops / costed_ns / 1e3

        The `top_k` rows of each job with the highest total_ns are listed. The job's other rows are added
        up into one row per GPU name and kind. In these rows, is_rest is true. Their kernel, operator,
        shapes, position and rates are NULL.

        Times are sums over calls. Kernels that overlap each count in full. The time of a
        collective's kernel includes its wait.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            top_k (INTEGER): rows to list for each job [default: 1000]
            short_names (BOOLEAN): kernel names without template arguments and parameters [default: true]

        Returns:
            pyarrow.Table, one row per job, device_name, kind, name, op_name, input_dims, input_types, concrete_inputs, is_rest:
            job              VARCHAR, run of a program
            device_name      VARCHAR, GPU, as named in the rank's trace
            kind             VARCHAR, computation, communication or memory
            name             VARCHAR, name of the kernel, copy or memset
            op_name          VARCHAR, operator that launched it, as above
            input_dims       VARCHAR, JSON: sizes of each argument of the operator
            input_types      VARCHAR, JSON: type of each argument
            concrete_inputs  VARCHAR, JSON list with one text per argument: the value of a number, boolean or list, or "" for a tensor. NULL if not recorded, or if flops are not known
            is_rest          BOOLEAN, whether the row adds up the job's other rows of its GPU name and kind
            position         BIGINT, place in the job, 1 for the longest total; NULL if is_rest
            count            BIGINT, calls of the kernel
            total_ns         BIGINT, sum of the calls' durations
            min_ns           BIGINT, shortest call
            max_ns           BIGINT, longest call
            total_frac       DOUBLE, total_ns / sum of the durations of all activities of the job
            flops            BIGINT, operations of the calls that count in this row; NULL: not known, or no call counts here
            bytes            BIGINT, least bytes that these calls have to move; NULL: not known
            costed_ns        BIGINT, GPU time of all kernels of these calls
            achieved_tflops  DOUBLE, flops / costed_ns, in 1e12 operations per second
            achieved_gbps    DOUBLE, bytes / costed_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.job_kernels()
        """

    def job_ranks(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
    ) -> pa.Table:
        """What each rank did, on which GPU and host, and how fast its kernels were.

        In synchronous training all ranks take the same time for a step. A rank that computes slowly has
        more computation and less waiting. But ranks can also have different work, as the stages of a
        pipeline do. So the query does not compare whole ranks. It compares each kernel with the same
        kernel on the job's other ranks: same name, grid, block, operator and operator's shapes, on a GPU
        of the same name.

            compared_ns    time of the rank's computation kernels that at least one
                           other rank of the job also runs
            expected_ns    time that the same calls would take if each took the
                           typical time of its kernel
            compute_ratio  compared_ns / expected_ns: 1.2 is 20 % slower than typical

        For each kernel and rank, the query computes the mean time of the kernel's calls. The kernel's
        typical time is the median of these mean times over ranks. In this example, a job has one kernel.
        Its mean times are 10, 10 and 13 us, so its typical time is 10 us:

            rank             0                1                2
            calls            4 of 10 us       2 of 10 us       4 of 13 us
            compute_ratio    40 / 40 = 1      20 / 20 = 1      52 / 40 = 1.3

        A kernel that only one rank runs is not compared. Communication is not compared either, since it
        includes waits. With two ranks, the typical time is halfway between their mean times: if these
        are 9 us and 11 us, the compute_ratios are 0.9 and 1.1. If shapes are not recorded, a kernel that
        uses one grid for all sizes counts as the same kernel even if the sizes differ.

        launch_ratio shows a slow host: it is the rank's median time per launch, divided by the median
        over the job's ranks. late_count is the number of late arrivals that the rank caused, and
        lost_gpu_ns is the GPU time that other ranks lost by these arrivals, as in lost_gpu_time. Busy
        times are sums over the rank's devices, as in temporal_breakdown.

        local_rank is the number of the GPU on its host. If all ranks of the job on that host have
        different device numbers, local_rank is the device number. Otherwise, for example if each process
        sees its own GPU as device 0, local_rank is the rank's place among the job's ranks on that host,
        from 0. Ranks without GPU activities have no place.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]

        Returns:
            pyarrow.Table, one row per job, rank:
            job                       VARCHAR, run of a program
            rank                      INTEGER, rank of the process
            host                      VARCHAR, machine of the rank; NULL if not in the trace
            device_name               VARCHAR, name of the GPU; NULL if the trace does not name it
            local_rank                BIGINT, number of the GPU on the host, from 0; NULL if the host is not known or the rank has no GPU activity
            step_count                BIGINT, steps of the rank
            step_mean_ns              BIGINT, mean duration of a step
            gpu_span_ns               BIGINT, from the first activity's start to the last one's end
            busy_ns                   BIGINT, time with one activity or more
            compute_ns                BIGINT, time with computation
            communication_ns          BIGINT, time with communication
            exposed_communication_ns  BIGINT, time with communication, but no computation
            exposed_memory_ns         BIGINT, time with copies or memsets and nothing else
            idle_ns                   BIGINT, time without any activity in the span
            kernel_ns                 BIGINT, sum of durations of computation kernels
            compared_ns               BIGINT, part of kernel_ns in kernels that other ranks also run
            expected_ns               BIGINT, time that these calls would take at the typical times of their kernels
            compute_ratio             DOUBLE, compared_ns / expected_ns; above 1 is slower than typical
            launch_count              BIGINT, launches of GPU activities
            launch_p50_ns             BIGINT, median duration of a launch on the host
            launch_ratio              DOUBLE, launch_p50_ns / median of launch_p50_ns over the job's ranks; NULL if no other rank launches
            late_count                BIGINT, how often the rank caused a late arrival at a collective or message
            lost_gpu_ns               BIGINT, GPU time that other ranks lost by these arrivals; NULL if not known

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.job_ranks()
        """

    def job_summary(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
    ) -> pa.Table:
        """One row per job: GPUs, steps, busy and idle time, and the worst rank.

        Times are sums over the devices of all ranks, each computed as in temporal_breakdown. A device's
        span runs from its first activity to its last:

            gpu_span_ns = busy_ns + idle_ns
            busy_ns = compute_ns + exposed_communication_ns + exposed_memory_ns
            idle_ns = host_wait_ns + launching_ns + queued_ns + kernel_wait_ns
                + unknown_wait_ns

        A device is idle while no activity runs on any of its streams. Each gap is cut into parts by
        cause, as in idle_gaps:

            host_wait     until the launch of the next activity begins
            launching     until this launch returns
            queued        until the activity starts: launched, but not started
            kernel_wait   the same as queued, but shorter than 30 us
            unknown_wait  the whole gap, if the next activity has no launch

        A device can wait before its first activity, while the host is in the first step, and after its
        last activity. These two times are not in gpu_span_ns, but in outside_ns:

            host         [  step 1  )[  step 2  )[  step 3  )
            device             [==)[==)    [===)[==)
            gpu_span_ns        |-----------------|
            outside_ns   |----|                   |----------|

        If a job has no steps, outside_ns is 0: the trace does not say how long the GPU had to work.

        Each fraction is a share of gpu_span_ns, with three exceptions:
          * utilisation_frac is a share of gpu_span_ns + outside_ns.
          * overlap_frac is the share of communication time that computation hides, as in
            comm_comp_overlap.
          * top_kernel_frac is top_kernel's share of the time of all computation and communication
            kernels.

        A step lasts as long as its annotation on the host, as in profiler_steps. Mean and median are
        over the steps of all ranks. top_kernel is the short name of the computation or communication
        kernel with the most time, summed over all calls of all ranks. With equal times, the first name
        in the alphabet counts.

        lost_gpu_ns is the time that lost_gpu_time counts: how long ranks waited for a rank that came
        late to a collective or message, without computation to hide the wait. worst_rank is the rank
        that caused the largest part of lost_gpu_ns. With equal times, the lowest rank counts. worst_rank
        is NULL if lost_gpu_ns is 0 or not known.

        top_finding is the first row of the query findings, which ranks what to fix by its gain.
        finding_count counts the rows with a severity above info. top_finding is NULL if there are none.
        In plain SQL, both are known only after `hta-sql materialize`, and NULL before.

        A job without GPU activities has GPU times of zero and fractions of NULL.

        Args:
            only_jobs (VARCHAR[]): jobs to summarise [default: all]

        Returns:
            pyarrow.Table, one row per job:
            job                         VARCHAR, run of a program
            started_at                  TIMESTAMP, start of the job, UTC; NULL if not known
            rank_count                  BIGINT, ranks with a trace
            world_size                  INTEGER, ranks that the job had, as reported by its traces
            host_count                  BIGINT, machines that the traces name
            device_name                 VARCHAR, name of the GPU; several joined by commas
            step_count                  BIGINT, different step numbers
            step_mean_ns                BIGINT, mean duration of a step, over all ranks
            step_p50_ns                 BIGINT, median duration of a step, over all ranks
            gpu_span_ns                 BIGINT, from a device's first activity to its last
            outside_ns                  BIGINT, step time before a device's first activity or after its last
            busy_ns                     BIGINT, GPU time with one activity or more
            compute_ns                  BIGINT, GPU time with computation
            communication_ns            BIGINT, GPU time with communication
            overlap_ns                  BIGINT, GPU time with computation and communication
            exposed_communication_ns    BIGINT, GPU time with communication, but no computation
            exposed_memory_ns           BIGINT, GPU time with copies or memsets and nothing else
            idle_ns                     BIGINT, GPU time without any activity
            host_wait_ns                BIGINT, part of idle_ns: nothing is launched
            launching_ns                BIGINT, part of idle_ns: the launch has not returned
            queued_ns                   BIGINT, part of idle_ns: launched, but not started
            kernel_wait_ns              BIGINT, part of idle_ns: the same, below 30 us
            unknown_wait_ns             BIGINT, part of idle_ns: the launch is not known
            lost_gpu_ns                 BIGINT, GPU time lost to late ranks; NULL if not known
            utilisation_frac            DOUBLE, busy_ns / (gpu_span_ns + outside_ns)
            busy_frac                   DOUBLE, busy_ns / gpu_span_ns
            compute_frac                DOUBLE, compute_ns / gpu_span_ns
            overlap_frac                DOUBLE, overlap_ns / communication_ns
            exposed_communication_frac  DOUBLE, exposed_communication_ns / gpu_span_ns
            idle_frac                   DOUBLE, idle_ns / gpu_span_ns
            lost_gpu_frac               DOUBLE, lost_gpu_ns / gpu_span_ns
            top_kernel                  VARCHAR, kernel with the longest total time, as above
            top_kernel_ns               BIGINT, sum of the durations of top_kernel's calls
            top_kernel_frac             DOUBLE, top_kernel_ns / sum of the durations of all computation and communication kernels
            worst_rank                  INTEGER, rank that cost the other ranks the most GPU time
            worst_rank_host             VARCHAR, machine of worst_rank; NULL if the trace does not name it
            worst_rank_lost_ns          BIGINT, part of lost_gpu_ns that worst_rank caused
            top_finding                 VARCHAR, title of the finding with the largest gain
            top_finding_rule            VARCHAR, rule of this finding
            top_gain_frac               DOUBLE, gain of this finding as a share of a step
            finding_count               BIGINT, findings with a severity above info

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.job_summary()
        """

    def job_trend(
        self,
        *,
        of_tag: str | None = 'model',
        job_contains: str | None = None,
        only_jobs: Iterable[str] | None = None,
        run_limit: int | None = 5,
        min_change: float | None = 0.02,
    ) -> pa.Table:
        """Step times from run to run, and where they changed beyond noise.

        The query groups runs into series. Runs are of the same program if they have the same value of
        the tag `of_tag`, such as model. A job without the tag is grouped by its name, without the digits
        and signs at the end: `bert-2026-11-03` and `bert-17` are runs of `bert`. Runs on other GPUs or
        with another number of ranks form a separate series. A series is in the order of started_at. Runs
        without a date come last, by name.

        Times and fractions are those that `hta-sql materialize` has stored for job_summary. Runs without
        steps are listed, but do not count in the search for changes.

        At each run, the query compares two medians of step_ns. before_ns is the median of up to
        `run_limit` runs before it. after_ns is the median of the run itself and the runs after it, up to
        `run_limit` runs in all. If either side has fewer than 3 runs, is_change is NULL.

            step_ns     100 101 100  99 101 100 111 109 110 111 110 110
            before_ns       100 101 100 100 100 100 100 101 109 110 110
            after_ns    100 100 100 101 109 110 110 110 110 110 110 110

        In this example, is_change is true at the first 111, where diff_ratio is 0.1. is_change is NULL
        for the first three and the last two runs, and false for the others.

        A run is a change if all three hold:
          * The medians differ by at least `min_change` of before_ns.
          * The medians differ by more than the noise, t * error (see below).
          * The run itself is nearer to after_ns, and the run before it is nearer to before_ns.

        The query measures the noise as the difference from one run to the next. A single change
        therefore adds little to the noise:

            d     = median over runs of |step_ns - step_ns of the previous run|
            sigma = 1.4826 / sqrt(2) * d
            error = sqrt(pi / 2) * sigma * sqrt(1 / n_before + 1 / n_after)

        sigma is the standard deviation of step_ns, and error is the standard error of a difference of
        two medians of n_before and n_after runs. t is the critical value of Student's t distribution at
        the two-sided level of 0.1 %. Its degrees of freedom are the number of runs in the series, less
        1. t is at least 4.5, since the test is repeated at every run.

        One odd run alone is not a change, because it does not move the median of three or more runs.

        Around a change, several neighbouring runs can meet the three conditions. If they are less than
        `run_limit` runs apart and all slower, or all faster, only one of them is the change: the run
        with the largest gain, or the first of them if gains are equal. A large gain means that two
        medians fit the runs better than one:

            gain = sum of |step_ns - median of both sides| over both sides
                   - sum of |step_ns - before_ns| over the runs before
                   - sum of |step_ns - after_ns| over the other runs

        In a slow drift, each run differs little from its neighbours. A drift shows in drift_ratio and is
        not a change, unless it is steep.

        regressions compares the newest run with earlier runs in more detail, kernel by kernel.

        Args:
            of_tag (VARCHAR): tag with the same value in all runs of a program [default: 'model']
            job_contains (VARCHAR): text that the jobs' names contain; case matters [default: all]
            only_jobs (VARCHAR[]): jobs to look at [default: all]
            run_limit (INTEGER): maximum number of runs on each side of a change [default: 5]
            min_change (DOUBLE): least relative change of step times, 0.02 for 2 % [default: 0.02]

        Returns:
            pyarrow.Table, one row per job:
            job                         VARCHAR, run of a program
            run_of                      VARCHAR, value of the tag, or start of the job's name
            device_name                 VARCHAR, name of the GPUs; several joined by commas
            rank_count                  BIGINT, ranks with a trace
            position                    BIGINT, place in the series, 1 for its first run
            started_at                  TIMESTAMP, when the run began, UTC; NULL if not known
            step_ns                     BIGINT, median duration of a step; NULL: no steps
            busy_frac                   DOUBLE, share of GPU time with any activity
            exposed_communication_frac  DOUBLE, share of GPU time with communication, but no computation
            idle_frac                   DOUBLE, share of GPU time without any activity
            before_ns                   BIGINT, median step_ns of the runs before; NULL: no such run
            after_ns                    BIGINT, median step_ns of this run and the runs after it
            diff_ratio                  DOUBLE, after_ns / before_ns - 1: 0.03 is 3 % longer
            drift_ratio                 DOUBLE, after_ns / (after_ns of the first run) - 1
            is_change                   BOOLEAN, whether steps changed here; NULL: too few runs or no steps

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.job_trend()
        """

    def low_utilisation_jobs(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        top_k: int | None = 20,
        below: float | None = 0.8,
    ) -> pa.Table:
        """The jobs with the most GPU time without computation, and the main reason.

        The GPU time of a job is its gpu_span_ns and outside_ns, as in job_summary. So it counts that a
        GPU waits before its first activity or after its last, while the host is in a step. The query
        splits the GPU time without computation into the times of nine reasons:

            straggler      exposed waiting for ranks that came late to a collective
                           or message, as in lost_gpu_time
            communication  the rest of exposed communication
            memory         exposed copies and memsets
            host_wait      idle while the host has launched nothing, for example
                           because of data loading, Python or a synchronisation
            launching      idle until a launch returns
            queued         idle for 30 us or more, from the return of a launch to
                           the start of its activity
            kernel_wait    the same, for less than 30 us
            unknown_wait   idle before an activity without a known launch
            outside        step time before the first activity of a GPU or after
                           its last

        The nine times add up to without_compute_ns. `reason` is the reason with the most time. With
        equal times, the first reason in the list counts.

        straggler_ns is at most the exposed communication. lost_gpu_time can count more, for example if a
        rank waits on several streams at the same time. If a job's lost GPU time is not known,
        straggler_ns is 0, and all exposed communication counts as communication.

        outside_ns is NULL if an earlier hta_sql stored the job's results, without this time. It then
        counts as 0, and utilisation_frac and compute_frac are at most what they say. `hta-sql
        materialize --force` computes the results again.

        Jobs without GPU activities are left out. The query reads what `hta-sql materialize` has stored.
        Jobs without stored results are left out, with a warning.

        Args:
            only_jobs (VARCHAR[]): jobs to look at [default: all]
            top_k (INTEGER): maximum number of jobs to show [default: 20]
            below (DOUBLE): only jobs whose compute_frac is below this [default: 0.8]

        Returns:
            pyarrow.Table, one row per job:
            job                 VARCHAR, run of a program
            position            BIGINT, 1 for the most GPU time without computation; with equal times, the first name comes first
            started_at          TIMESTAMP, when the job began, UTC; NULL if not known
            rank_count          BIGINT, ranks with a trace
            device_name         VARCHAR, name of the GPU; several joined by commas
            gpu_time_ns         BIGINT, GPU time that was traced, as above
            without_compute_ns  BIGINT, GPU time without computation
            utilisation_frac    DOUBLE, share of gpu_time_ns with any activity
            compute_frac        DOUBLE, share of gpu_time_ns with computation
            reason              VARCHAR, reason with the most time; NULL if without_compute_ns is 0
            reason_ns           BIGINT, time of `reason`
            reason_frac         DOUBLE, reason_ns / without_compute_ns
            straggler_ns        BIGINT, exposed waiting for late ranks
            communication_ns    BIGINT, rest of exposed communication
            memory_ns           BIGINT, exposed copies and memsets
            host_wait_ns        BIGINT, idle while nothing is launched
            launching_ns        BIGINT, idle until a launch returns
            queued_ns           BIGINT, idle after a launch, for 30 us or more
            kernel_wait_ns      BIGINT, idle after a launch, for less than 30 us
            unknown_wait_ns     BIGINT, idle before an activity without a known launch
            outside_ns          BIGINT, step time before a GPU's first activity or after its last; NULL: not known, as above
            top_finding         VARCHAR, title of the finding with the largest gain
            top_kernel          VARCHAR, kernel with the longest total time
            worst_rank          INTEGER, rank that cost the other ranks the most GPU time
            worst_rank_host     VARCHAR, machine of worst_rank; NULL if the trace does not name it

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.low_utilisation_jobs()
        """

    def annotated_kernels(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        name_contains: str | None = None,
    ) -> pa.Table:
        """Each GPU activity with the annotation that it belongs to.

        Two rules find the annotation of an activity. The GPU rule applies only if the host rule finds no
        annotation:
          * Host rule: the activity belongs to the innermost host annotation around its launch, on the
            launching thread.
          * GPU rule: the activity belongs to a GPU annotation that contains it, on the same stream. The
            activity begins inside this annotation and does not end after it. If several annotations
            contain the activity, the query chooses the one with the latest start. If several of them
            have this start, the query chooses the shortest. If several are equally short, the query
            chooses the one with the highest event_id.

            host      [= step =================)
                          [= loss =)
            launch     1    2          4
            launch                3              on another thread
            activity     [1)   [2) [3)    [4==)
            gpu annot.   [====================)     step
                               [=)                  loss

            1  step       host rule
            2  step;loss  host rule
            3  step       GPU rule
            4  step       host rule

        The GPU rule covers activities that another thread launched, such as most of a backward pass, and
        activities without a known launch. The GPU rule is a guess: if an activity of other code runs
        between two activities of an annotation, on the same stream, it also gets that annotation.

        `annotation_path` lists the annotation and all annotations around it, outermost first. With the
        host rule, these are host annotations on the same thread. With the GPU rule, these are GPU
        annotations on the same stream that contain the chosen annotation.

        The parameters select activities, not annotations. For example, an activity of a selected step is
        reported with its annotation even if that annotation began in another step.

        HTA's get_gpu_kernels_with_user_annotations ignores the launch. It takes the shortest GPU
        annotation on the activity's stream that overlaps any part of the activity. It reports nothing
        for traces that have only host annotations.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: the whole trace]
            name_contains (VARCHAR): only names that contain this; case matters [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job                VARCHAR, run of a program
            rank               INTEGER, rank of the process
            event_id           BIGINT, event_id of the activity
            device             BIGINT, GPU, as the process numbers it
            stream             BIGINT, stream of the activity
            kind               VARCHAR, computation, communication or memory
            name               VARCHAR, name of the activity
            start_ns           BIGINT, start of the activity
            dur_ns             BIGINT, duration of the activity
            step               BIGINT, step in which the activity's launch began
            annotation         VARCHAR, name of the annotation; NULL if there is none
            annotation_path    VARCHAR, the annotation and all annotations around it, outermost first, joined by ;
            annotation_source  VARCHAR, host: found by the host rule; gpu: found by the GPU rule

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.annotated_kernels()
        """

    def annotation_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        source: str | None = 'gpu',
        name_contains: str | None = None,
    ) -> pa.Table:
        """Each annotation's count, durations and GPU busy time, per rank.

        Annotations are named spans of the program and its libraries: record_function, a profiler step,
        an optimizer's step, a collective. `source` selects which spans are measured:
          * host: the span of the annotated code on its thread.
          * gpu: the span that the profiler records on a stream for this code. It runs from the first
            start to the last end of the activities that the code launched to this stream. Activities
            that a nested annotation launched do not extend this span. If the code launched to several
            streams, the annotation counts once on each.

            host      [= step =================)
                          [= loss =)
            launch     a    b   c      d
            activity     [a)   [b)[c=)    [d==)
            gpu          [= step =============)
                               [ loss)

        For host annotations, gpu_busy_ns includes nested annotations:

            step: durations of a, b, c, d    2 + 2 + 3 + 4 = 11
            loss: durations of b, c          2 + 3 = 5

        Sums and statistics are over single annotations, so overlapping annotations each count in full.
        stddev_ns is the standard deviation of a sample; it is 0 for a single annotation. Means and
        deviations are rounded to whole ns.

        `gpu_busy_ns` is NULL with source gpu. With source host, it is the time in which at least one
        activity of the row runs, on any device. An activity belongs to the row if it was launched inside
        an annotation of the row, on the thread of this annotation, at any depth. Activities that other
        threads launch at the same time do not count, such as most of a backward pass. profiler_steps has
        the busy time of whole steps, with the launches of all threads.

        A host annotation belongs to the step in which it begins. A GPU annotation belongs to the step of
        its host annotation: the one with the same `External id`. A GPU annotation without a host
        annotation belongs to no step. `only_steps` selects the annotations of those steps. gpu_busy_ns
        then counts only activities of those steps.

        HTA's get_gpu_user_annotation_breakdown reports the sum, mean, min, max and stddev, from times
        cut to whole us. If a trace has two or more steps, HTA drops the last step. HTA then also drops
        GPU annotations of earlier steps if they begin after the last step begins on the host.

        HTA keeps at most 1,000 names by default. If a rank has more names, HTA first adds up the
        durations of each name's annotations, and then takes the statistics over these sums. The mean,
        min and max of a kept name are then equal to its sum, and its stddev is 0.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            source (VARCHAR): gpu: annotations on streams; host: annotations on threads [default: 'gpu']
            name_contains (VARCHAR): only names that contain this; case matters [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, name:
            job          VARCHAR, run of a program
            rank         INTEGER, rank of the process
            name         VARCHAR, name of the annotation
            count        BIGINT, annotations of that name
            total_ns     BIGINT, sum of the annotations' durations
            mean_ns      BIGINT, mean of the annotations' durations
            min_ns       BIGINT, shortest duration
            max_ns       BIGINT, longest duration
            stddev_ns    BIGINT, sample standard deviation of the durations
            gpu_busy_ns  BIGINT, source host: busy time of the activities launched in these annotations, as above; source gpu: NULL

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.annotation_stats()
        """

    def category_breakdown(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """How long each device ran each combination of kernel categories.

        Each busy instant counts once, for the combination of all categories that run at that instant.

            gemm           [===========)                 [======)
            communication        [============)
                           1     2     3                 1

            1  gemm                time_ns 6 + 7 = 13
            2  communication+gemm  time_ns 6
            3  communication       time_ns 7

        The categories of a combination are in alphabetical order. Combinations that never ran have no
        row. A category comes from the name of the operator that launched the activity, or from the
        kernel's name. The view category_rules lists the rules. `other` matches no rule. The
        categories communication and memory are the kinds of these names, as in kernel_kind_breakdown.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, categories:
            job         VARCHAR, run of a program
            rank        INTEGER, rank of the process
            device      BIGINT, GPU, as the process numbers it
            categories  VARCHAR, the categories that run at the same time, joined by +
            time_ns     BIGINT, time with exactly these categories
            time_frac   DOUBLE, time_ns / busy time of the device; a device's rows add up to 1

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.category_breakdown()
        """

    def comm_comp_overlap(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """How much of each device's communication is hidden behind computation.

            computation     [===========)         [=======)
            communication         [============)    [===)
            overlap               [=====)           [===)

            communication_ns 13 + 4 = 17, overlap_ns 6 + 4 = 10

        communication_ns and overlap_ns are unions: if several collectives run at the same instant, that
        instant counts once. If a device has no communication, its overlap_frac is NULL.

        HTA's get_comm_comp_overlap reports only the percentage, rounded, and for a whole rank. If there
        is no communication, it reports NaN.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device:
            job               VARCHAR, run of a program
            rank              INTEGER, rank of the process
            device            BIGINT, GPU, as the process numbers it
            communication_ns  BIGINT, time with at least one communication activity
            overlap_ns        BIGINT, time with both communication and computation
            overlap_frac      DOUBLE, overlap_ns / communication_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.comm_comp_overlap()
        """

    def gpu_efficiency(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Each device's mean kernel occupancy, SM efficiency and tensor core share.

        Each fraction is a mean over the device's kernels, weighted by duration. Long kernels count more,
        and overlapping kernels each count in full. Copies and memsets are not kernels.

            kernel                      dur_ns  occupancy  blocks/SM  tensor core
            sm90_xmma_gemm_bf16bf16_...     30       0.20       0.50          yes
            vectorized_elementwise_...      10       1.00       4.00           no

            occupancy_frac      (30 * 0.20 + 10 * 1.00) / 40 = 0.4
            sm_efficiency_frac  (30 * 0.50 + 10 * 1.00) / 40 = 0.625
            tensor_core_frac                        30  / 40 = 0.75

        The SM efficiency of a kernel is its number of blocks per streaming multiprocessor (SM), but at
        most 1. With one block per SM or more, every SM has work.

        Occupancy and blocks per SM come from the profiler. If the trace does not record them, as on AMD,
        the columns of occupancy and SM efficiency are NULL. A kernel does not count in a column if the
        kernel's value is missing or impossible, such as an occupancy above 1 or a negative value.

        The kernel of a collective uses little of the device. It runs longer if it waits longer for other
        ranks, and then counts more. The columns computation_... cover only computation kernels, so such
        waits do not change them.

        Only the name of a kernel shows that the kernel uses tensor cores (on AMD: matrix cores), and
        some names do not show it. In particular, the names of Triton's kernels do not. tensor_core_ns
        and the tensor core fractions are therefore lower bounds.

        TensorBoard's profiler plugin has similar figures, but its SM efficiency also counts idle time.
        Its list of tensor core kernels has no names for GPUs after Ampere.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device:
            job                             VARCHAR, run of a program
            rank                            INTEGER, rank of the process
            device                          BIGINT, GPU, as the process numbers it
            occupancy_frac                  DOUBLE, mean of the profiler's estimated occupancy
            sm_efficiency_frac              DOUBLE, mean of blocks per SM, at most 1 per kernel
            tensor_core_frac                DOUBLE, tensor_core_ns / kernel_ns
            computation_occupancy_frac      DOUBLE, occupancy_frac of computation kernels
            computation_sm_efficiency_frac  DOUBLE, sm_efficiency_frac of computation kernels
            computation_tensor_core_frac    DOUBLE, tensor_core_frac of computation kernels
            kernel_ns                       BIGINT, sum of the kernels' durations
            tensor_core_ns                  BIGINT, sum of the durations of tensor core kernels

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.gpu_efficiency()
        """

    def hardware_counters(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Hardware counters of each kernel, with the operators around its launch.

        If CUPTI's range profiler is on, the trace records ranges. A range is an event of category
        `cuda_profiler_range`, usually one per kernel. Its arguments are counters. Each row is one
        counter of one range. Arguments that are not finite numbers have no row. If a range records a
        counter twice, the last value counts.

        The trace does not record which call launched the kernel of a range. Kernels run one after the
        other while counters are read. The query therefore pairs the rank's n-th range, by start, with
        the rank's n-th launch, by start.

        A launch here is a runtime or driver call whose name contains `Launch` and then `Kernel`:
        cudaLaunchKernel, cuLaunchKernelEx, hipLaunchKernel, ... If several such calls have the same
        correlation id, only the outermost counts.

        If a rank's numbers of ranges and launches differ, launch_id, step and the operators are NULL.
        The numbers differ in these cases, for example:
          * A range covers several kernels.
          * A kernel is measured in several passes.
          * The trace begins between a launch and its kernel.

            host      [aten::conv2d==========)  [aten::relu_==)
                        [aten::add_)               [launch 2)
                         [launch 1)
            ranges        [range 1=================)[range 2=================)

            range 1   op_stack aten::conv2d;aten::add_
            range 2   op_stack aten::relu_

        `only_steps` selects ranges by the step in which their launch began. A range without a launch is
        in no step. Pairs are always made from all ranges and launches of the rank, even if only some
        steps are selected.

        HTA's get_cupti_counter_data_with_operators has one column per counter. It recognises only
        cudaLaunchKernel as a launch. It leaves out ranks with different numbers of launches and ranges,
        and fails if a launch is in no operator.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, event_id, counter:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            event_id   BIGINT, event_id of the range
            counter    VARCHAR, name of the counter
            value      DOUBLE, value of the counter, in its own unit
            kernel     VARCHAR, name of the range; the kernel's name if the profiler knew it
            start_ns   BIGINT, start of the range
            dur_ns     BIGINT, duration of the range in the trace; not measured: the profiler gives all ranges the same distance in time
            launch_id  BIGINT, event_id of the launch; NULL if not known
            step       BIGINT, step in which the launch began
            top_op     VARCHAR, outermost operator around the launch
            bottom_op  VARCHAR, innermost operator around the launch
            op_stack   VARCHAR, all operators around the launch, outermost first, joined by ;

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.hardware_counters()
        """

    def idle_gaps(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        min_gap_ns: int | None = 0,
        kernel_gap_ns: int | None = 30000,
    ) -> pa.Table:
        """Each idle gap of a whole device, cut into parts by cause, with what the host did.

        A gap is a time without activity on any stream of the device. The first activity after the gap,
        by start and then event_id, ends the gap. The gap is cut where the launch of that activity begins
        and where it returns. Each part has a cause:

            host_wait    until the launch begins: there is nothing to run
            launching    until the launch returns: for example, a lazy load of a
                         module, or a full launch queue
            queued       until the activity starts: launched, but not started
            kernel_wait  the same as queued, but shorter than kernel_gap_ns
            unknown      the whole gap, if the activity has no launch

            launch                   [ call  )
            stream    [=====)                             [=====)
            parts           host_wait launching  queued

        A launch that begins before the gap, or returns after the activity has started, is cut to the
        gap. One launch of a graph starts many activities. Only the first of them waits for the launch.
        Gaps before the others are queued or kernel_wait. The parts of a gap add up to whole_gap_ns.

        host_event_id and host_name name what filled most of the part: the innermost span, on the thread
        that launched the activity, with the most time in the part. Of two spans with equal times, it is
        the one with the lower event_id. A span is an operator, an annotation, a Python function, or a
        runtime or driver call. Time in which no span was open counts in the same way. If it is the most
        time, or if the activity has no launch, both columns are NULL.

        If steps are selected, only activities of these steps count. A gap can then include time in which
        activities of other steps run. host_name can name a span of any step.

        Version 1 gives each gap one cause, as HTA does.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            min_gap_ns (BIGINT): ns; shorter gaps are left out [default: 0]
            kernel_gap_ns (BIGINT): ns; only shorter parts can be kernel_wait [default: 30000]

        Returns:
            pyarrow.Table, one row per job, rank, device, part_start_ns:
            job            VARCHAR, run of a program
            rank           INTEGER, rank of the process
            device         BIGINT, GPU, as the process numbers it
            part_start_ns  BIGINT, start of the part
            start_ns       BIGINT, start of the gap: latest end of the activities before it
            part_ns        BIGINT, duration of the part
            whole_gap_ns   BIGINT, duration of the gap, the same in all its parts
            cause          VARCHAR, host_wait, launching, queued, kernel_wait or unknown
            next_event_id  BIGINT, event_id of the activity that ends the gap
            next_name      VARCHAR, name of that activity
            host_event_id  BIGINT, event_id of the innermost span that filled most of the part
            host_name      VARCHAR, name of that span
            stream         BIGINT, stream of the activity that ends the gap
            step           BIGINT, step of the activity that ends the gap

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.idle_gaps()
        """

    def idle_reasons(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        top_k: int | None = None,
        kernel_gap_ns: int | None = 30000,
    ) -> pa.Table:
        """What the host did while each device was idle, by cause and by span.

        A device is idle while no activity runs on any of its streams, from its first activity to its
        last. Each idle gap is cut into parts by cause, as in idle_gaps. Each part is then divided by
        what the thread that launched the next activity had open: exactly, to the nanosecond.

            device     [====)..............................[====)
            cause            host_wait               launching
            main thread  [ step                                     )
                               [ next batch      )
                                 [ read  )         [ launch )
            name            step, next batch, read, next batch, step, launch

        `name` is the innermost open span: an operator, an annotation, a Python function, or a runtime or
        driver call. `outer_name` is the outermost open span. It leaves out spans that are open all the
        time: the annotations of steps, the Python functions that call them, functions that are open
        during all activities of the rank, and Python's entry frames. Both are NULL if no such span was
        open, or if the launch is not known. A step's annotation has one name for all steps, such as
        `ProfilerStep`, or `train_step N` for `train_step 7`.

        A device's rows add up to its idle time in temporal_breakdown, if top_k is not given.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            top_k (BIGINT): rows per device, those with the most idle time [default: all]
            kernel_gap_ns (BIGINT): ns; only shorter parts can be kernel_wait [default: 30000]

        Returns:
            pyarrow.Table, one row per job, rank, device, cause, name, outer_name:
            job         VARCHAR, run of a program
            rank        INTEGER, rank of the process
            device      BIGINT, GPU, as the process numbers it
            cause       VARCHAR, host_wait, launching, queued, kernel_wait or unknown
            name        VARCHAR, innermost span that was open on the launching thread
            outer_name  VARCHAR, outermost span that was open there, as above
            idle_ns     BIGINT, idle time of the device with this cause and these spans
            idle_frac   DOUBLE, idle_ns / idle time of the device
            gap_count   BIGINT, gaps in which this time lies
            longest_ns  BIGINT, most time in one gap

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.idle_reasons()
        """

    def idle_time_breakdown(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        kernel_gap_ns: int | None = 30000,
    ) -> pa.Table:
        """Each stream's idle time between activities, cut into parts by cause.

        A gap runs from the latest end on the stream to the next start after it. Each gap is cut where
        the launch of the activity that ends the gap begins and returns. Each part has a cause:

            host_wait    until the launch begins: there is nothing to run
            launching    until the launch returns: for example, a lazy load of a
                         module, or a full launch queue
            kernel_wait  until the activity starts, if this is shorter than
                         kernel_gap_ns: the short time between kernels
            dependency   until the activity starts, while another stream of the
                         device is busy: for example, the activity waits for an
                         event of that stream
            queued       until the activity starts, while the device is idle:
                         launched, but not started
            unknown      the whole gap, if the activity has no launch

            launch                  [ call  )
            stream 7    [=====)                              [=====)
            stream 8                              [====)
            host_wait         ......
            launching               .........
            queued                           .....      .....
            dependency                            ......

        A launch that begins before the gap, or returns after the activity has started, is cut to the
        gap. One launch of a graph starts many activities. Only the first of them waits for the launch.
        Gaps before the others have no host_wait and no launching.

        A gap counts once for each of its causes, with the sum of its parts. So gap_count, the mean, the
        percentiles and the other statistics of a cause are over gaps that have the cause, and each gap
        counts with its time of that cause. The times of all causes add up to the stream's idle time.

        There is no gap before a stream's first activity. There is also none if an activity starts
        exactly at the latest end. Of activities with equal starts, the one with the lower event_id is
        first. A cause without time has no row.

        If steps are selected, only activities of these steps count. A gap can then include time in which
        activities of other steps run. Means, percentiles and deviations are rounded to whole ns.

        Version 1 gives each gap one cause, as HTA's get_idle_time_breakdown does.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            kernel_gap_ns (BIGINT): ns; only shorter parts can be kernel_wait [default: 30000]

        Returns:
            pyarrow.Table, one row per job, rank, device, stream, cause:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            device     BIGINT, GPU, as the process numbers it
            stream     BIGINT, stream of the device
            cause      VARCHAR, host_wait, launching, kernel_wait, dependency, queued or unknown
            gap_count  BIGINT, gaps with that cause
            idle_ns    BIGINT, time of these gaps with that cause
            idle_frac  DOUBLE, idle_ns / idle time of the stream; a stream's rows add up to 1
            mean_ns    BIGINT, mean time per gap
            min_ns     BIGINT, shortest time in a gap
            p50_ns     BIGINT, median time per gap
            p95_ns     BIGINT, 95th percentile of the times per gap
            max_ns     BIGINT, longest time in a gap
            stddev_ns  BIGINT, sample standard deviation of the times per gap, 0 for one gap

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.idle_time_breakdown()
        """

    def job_phases(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Steps of inference by phase: how many, how long, tokens per second, busy and idle shares.

        The annotation of a step may say what the step does: prefill (of new requests), decode (one token
        or a few for each running request), mixed (both) or diffusion (one denoising step). The file
        sql/relations/steps/annotated_load.sql lists the names. Steps that say no phase have the phase
        NULL, such as those of training.

        Tokens are the new tokens of all requests of a step: of prompts in prefill, generated ones in
        decode. `tokens_per_s` divides the tokens of a phase by the time from each of its steps to the
        next step of the rank, so pauses between steps count. For the last step of a rank, the longer of
        its durations on the host and on the GPU counts.

        `latency_p50_ns` is from the start of a step on the host to the end of its last GPU activity. For
        a prefill, it is the least time to the first token: the time that a request waits for its turn
        comes before the step, and the trace does not have it. `output_token_p50_ns` is the time per
        output token: from a step with decoding to the next step, divided by the new tokens of each
        decoding request. With speculative decoding, `decode_tokens_per_request` is above 1: it counts
        the tokens that a step checks, of which the model may reject some.

        Busy and idle time is of the rank's device. It is measured from the start of the first GPU
        activity of a step to the end of its last one, and added up over the steps of the phase. If the
        activities of a step run while an earlier step still runs, both steps count this time.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to measure [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, phase:
            job                        VARCHAR, run of a program
            rank                       INTEGER, rank of the process
            phase                      VARCHAR, prefill, decode, mixed or diffusion; NULL: not shown
            step_count                 BIGINT, steps of the phase
            step_p50_ns                BIGINT, median of their durations on the host
            gpu_span_p50_ns            BIGINT, median time from the first start to the last end of a step's GPU activities
            batch_size_p50             DOUBLE, median number of requests in a step; NULL: not shown
            min_batch_size             BIGINT, smallest number of requests in a step
            max_batch_size             BIGINT, largest number
            token_count                BIGINT, new tokens of all steps; NULL: not shown
            tokens_per_s               DOUBLE, tokens / time of the steps that show their tokens
            context_tokens_mean        DOUBLE, mean tokens of context per request in a step, the new ones included; NULL: not shown
            kernel_count_p50           DOUBLE, median number of GPU activities of a step
            busy_ns                    BIGINT, time with a GPU activity, added up over the steps
            idle_ns                    BIGINT, time without one, within the spans of the steps
            busy_frac                  DOUBLE, busy_ns / (busy_ns + idle_ns)
            idle_frac                  DOUBLE, idle_ns / (busy_ns + idle_ns)
            latency_p50_ns             BIGINT, median time from a step's start to the end of its last GPU activity; NULL: no step has any
            output_token_p50_ns        BIGINT, median time per output token; NULL: no decoding, or not shown
            decode_tokens_per_request  DOUBLE, mean new tokens of a decoding request in a step

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.job_phases()
        """

    def kernel_distribution(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        top_k: int | None = None,
        name_contains: str | None = None,
        short_names: bool | None = False,
    ) -> pa.Table:
        """How each kernel's mean duration differs between ranks.

        Copies and memsets count as kernels here. The mean of a rank is the mean duration of its calls of
        one kernel name. The slowest rank has the longest mean, and the fastest rank has the shortest. Of
        ranks with equal means, the lowest rank is given. Ranks that never ran the kernel do not count.

        Within each job and kind, `top_k` keeps the names with the longest total time over all ranks. The
        calls of all other names are counted together in one row `others`. Calls that the parameters
        leave out do not count anywhere. `name_contains` searches the full name, even if `short_names` is
        true.

        HTA's get_gpu_kernel_breakdown shows the ranks' means only as a plot. HTA keeps at most 10 names
        of each kind by default. If a rank has more names of a kind, HTA adds up the calls of each name
        first, so its mean of a kept name is a sum, and its mean of `others` is a mean of sums.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            top_k (INTEGER): names to keep of each kind [default: all]
            name_contains (VARCHAR): only names that contain this; case matters [default: all]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per job, kind, name:
            job              VARCHAR, run of a program
            kind             VARCHAR, computation, communication or memory
            name             VARCHAR, name of the kernel, copy or memset; or others
            rank_count       BIGINT, ranks that ran the kernel
            count            BIGINT, calls on all ranks
            total_ns         BIGINT, sum of the calls' durations
            mean_ns          BIGINT, mean of all calls' durations
            slowest_rank     INTEGER, rank with the longest mean
            slowest_mean_ns  BIGINT, mean on the slowest rank
            fastest_rank     INTEGER, rank with the shortest mean
            fastest_mean_ns  BIGINT, mean on the fastest rank
            min_ns           BIGINT, shortest call
            max_ns           BIGINT, longest call
            imbalance        DOUBLE, longest mean / mean of the ranks' means; NULL if all are 0
            position         BIGINT, place in its job and kind, 1 for the longest total_ns; ties by name; the row `others` is last

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_distribution()
        """

    def kernel_kind_breakdown(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """How long each device ran each combination of activity kinds.

        Each busy instant counts once, for the combination of all kinds that run at that instant.

            computation     [===========)                 [======)
            communication         [============)
                            1     2     3                 1

            1  computation                time_ns 6 + 7 = 13
            2  communication+computation  time_ns 6
            3  communication              time_ns 7

        The kinds of a combination are in alphabetical order. Combinations that never ran have no row.

        HTA's get_gpu_kernel_breakdown returns two DataFrames. The first has the same times, summed over
        ranks. HTA cuts each stretch of time to whole us. HTA's name for combination 2 is `COMPUTATION
        overlapping COMMUNICATION`.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, kinds:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            device     BIGINT, GPU, as the process numbers it
            kinds      VARCHAR, the kinds that run at the same time, joined by +
            time_ns    BIGINT, time with exactly these kinds
            time_frac  DOUBLE, time_ns / busy time of the device; a device's rows add up to 1

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_kind_breakdown()
        """

    def kernel_sequences(
        self,
        *,
        operator: str,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        min_length: int | None = 3,
    ) -> pa.Table:
        """Sequences of kernels that operators launch, with counts and times.

        The query looks at operators whose name contains the text `operator`; case matters. An empty text
        finds nothing. If an operator is inside another such operator on its thread, the query leaves out
        the inner one.

        An activity belongs to an operator if its launch lies in the operator, on the operator's thread,
        at any depth and for any stream. Kernels, copies and memsets count, and so do all activities of a
        launched CUDA graph. The sequence of an operator is the names of its activities, in the order of
        their starts.

            host    [aten::linear=======================)   [aten::linear=======)
                       [aten::linear===)                      [launch 3)
                         [launch 1)      [launch 2)
            device                 [2: fill=)  [1: gemm=====)       [3: gemm==)

            Result with min_length 1:
            aten::linear   fill | gemm   count 1   launches 1 and 2
            aten::linear   gemm          count 1   launch 3

        Details:
          * A launch that ends after the operator does not lie in it.
          * Activities that other threads launch, for example in a backward pass, belong to the operators
            on those threads.
          * Of activities with equal starts, the one with the lower event_id is first.
          * An activity without a name counts with an empty name.
          * If a name contains ' | ', different sequences can have the same text. They share one row, and
            kernel_count is the largest of their counts.

        `only_steps` selects the operators that begin in those steps. The query leaves out an inner
        operator only if the outer operator is selected, too. All activities of a selected operator
        count, even if they were launched in another step.

        HTA's get_frequent_cuda_kernel_sequences differs:
          * It also matches annotations, runtime calls and other events, not only operators.
          * Of all matches in a rank, it keeps only those at the lowest stack depth. So one shallow
            operator hides all deeper operators.
          * Its sequences include synchronisations.
          * It finds nothing on stream 0, where AMD's kernels run.
          * It fails on most traces that record fractions of a us.

        Args:
            operator (VARCHAR): text that operator names contain; case matters [required]
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            min_length (INTEGER): least number of activities per operator; 0: all operators [default: 3]

        Returns:
            pyarrow.Table, one row per job, rank, operator, sequence:
            job               VARCHAR, run of a program
            rank              INTEGER, rank of the process
            operator          VARCHAR, full name of the operators
            sequence          VARCHAR, activity names in the order of start, joined by ' | '
            count             BIGINT, operators with this sequence
            kernel_count      BIGINT, activities of one operator with this sequence
            gpu_ns            BIGINT, sum of the durations of the activities of these operators
            host_ns           BIGINT, sum of the durations of these operators
            example_event_id  BIGINT, lowest event_id of these operators

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_sequences(operator=…)
        """

    def kernel_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        top_k: int | None = None,
        name_contains: str | None = None,
        short_names: bool | None = False,
    ) -> pa.Table:
        """Count and durations of each kernel, copy and memset, per rank.

        Sums and statistics are over single calls, so overlapping calls each count in full. Percentiles
        interpolate linearly between calls, as in pandas. stddev_ns is the standard deviation of a
        sample; it is 0 for a single call. Means, percentiles and deviations are rounded to whole ns.

        Within each rank and kind, `top_k` keeps the names with the longest total time. The calls of all
        other names are counted together in one row `others`. Calls that the parameters leave out do not
        count anywhere: position and total_frac consider only the selected calls. `name_contains`
        searches the full name, even if `short_names` is true.

        HTA's get_gpu_kernel_breakdown returns two DataFrames. The second has the sum, mean, min, max and
        stddev. HTA keeps at most 10 names of each kind by default. If a rank has more names of a kind,
        HTA first adds up the durations of each name's calls, and then takes the statistics over these
        sums:
          * For a kept name, HTA's mean, min and max are equal to its sum, and its stddev is 0.
          * For `others`, HTA's mean, min, max and stddev are over the sums of the other names.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            top_k (INTEGER): names to keep of each kind [default: all]
            name_contains (VARCHAR): only names that contain this; case matters [default: all]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per job, rank, kind, name:
            job         VARCHAR, run of a program
            rank        INTEGER, rank of the process
            kind        VARCHAR, computation, communication or memory
            name        VARCHAR, name of the kernel, copy or memset; or others
            count       BIGINT, calls
            total_ns    BIGINT, sum of the calls' durations
            mean_ns     BIGINT, mean of the calls' durations
            min_ns      BIGINT, shortest call
            p50_ns      BIGINT, median call
            p95_ns      BIGINT, 95th percentile of the calls
            max_ns      BIGINT, longest call
            stddev_ns   BIGINT, sample standard deviation of the calls' durations
            total_frac  DOUBLE, total_ns / the rank's total of that kind; NULL if the total is 0
            position    BIGINT, place in its rank and kind, 1 for the longest total_ns; ties by name; the row `others` is last

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_stats()
        """

    def launch_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        runtime_cutoff_ns: int | None = 50000,
        launch_delay_cutoff_ns: int | None = 100000,
        include_memory: bool | None = True,
    ) -> pa.Table:
        """How long each activity's launch took, and how long after the launch the activity began.

            host    [== launch ==)           cpu_ns 13
            GPU                       [====) launch_delay_ns 5, gpu_ns 5, is_short

        Each activity with a launch has one row. Its launch is the runtime or driver call with the same
        correlation id, regardless of the call's name. If several calls have this id, the outermost is
        the launch. The activities of a CUDA graph have one row each, with the same launch.

        launch_delay_ns runs from the launch's end to the activity's start. It is 0 if the activity
        starts before the launch ends. If an activity starts before its launch begins, the clocks of host
        and GPU disagree. launch_summary counts such activities.

        An activity is short if it runs for less time than its launch takes. A series of short activities
        cannot keep the GPU busy, since each launch takes longer than its activity. A launch is an
        outlier if it takes longer than runtime_cutoff_ns. An activity is an outlier if its delay is
        longer than launch_delay_cutoff_ns.

        HTA's get_cuda_kernel_launch_stats reports the same cpu_ns, gpu_ns and launch_delay_ns, but
        recognises launches by five function names. HTA has no rows for activities launched by HIP, by
        cuLaunchKernel, by a CUDA graph or by a synchronous copy call. HTA uses the cutoffs only for its
        histograms. HTA's histogram of short kernels leaves out launches that are longer than the cutoff;
        is_short includes them.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: the whole trace]
            runtime_cutoff_ns (BIGINT): ns; a launch that takes longer is an outlier [default: 50000]
            launch_delay_cutoff_ns (BIGINT): ns; an activity with a longer delay is an outlier [default: 100000]
            include_memory (BOOLEAN): whether copies and memsets count [default: true]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job                 VARCHAR, run of a program
            rank                INTEGER, rank of the process
            event_id            BIGINT, event_id of the activity
            launch_id           BIGINT, event_id of the launch
            correlation         BIGINT, correlation id of launch and activity
            launch_name         VARCHAR, name of the launch
            name                VARCHAR, name of the activity
            device              BIGINT, GPU, as the process numbers it
            stream              BIGINT, stream on the device
            step                BIGINT, step in which the launch began; NULL outside steps
            cpu_ns              BIGINT, duration of the launch
            gpu_ns              BIGINT, duration of the activity
            launch_delay_ns     BIGINT, launch's end to activity's start; at least 0
            is_short            BOOLEAN, gpu_ns < cpu_ns
            is_runtime_outlier  BOOLEAN, cpu_ns > runtime_cutoff_ns
            is_delay_outlier    BOOLEAN, launch_delay_ns > launch_delay_cutoff_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.launch_stats()
        """

    def launch_summary(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        runtime_cutoff_ns: int | None = 50000,
        launch_delay_cutoff_ns: int | None = 100000,
        include_memory: bool | None = True,
    ) -> pa.Table:
        """Durations of each rank's launches, delays until their activities began, and outliers.

        Terms are as in launch_stats, but each launch counts once, even if it has several activities:
          * cpu_ns is the duration of the launch.
          * gpu_ns is the sum of the durations of its activities.
          * The delay of a launch is the delay of the activity that starts first.

            host    [= graph launch =)
            GPU                          [==)[====)[==)     1 launch, 3 activities
                                     |---|                  delay of the launch

        An activity cannot start before its launch begins. If early_start_count is above 0, the clocks of
        host and GPU disagree, and every delay includes the offset between them.

        Percentiles interpolate linearly between launches. Means and percentiles are rounded to whole ns.
        Ranks without launches have no row.

        HTA's get_cuda_kernel_launch_stats returns no counts. It only draws histograms of short kernels
        and outliers, for the launches that it recognises (see launch_stats). HTA's histogram of short
        kernels leaves out launches that are longer than runtime_cutoff_ns; short_count includes them.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            runtime_cutoff_ns (BIGINT): ns; a launch that takes longer is an outlier [default: 50000]
            launch_delay_cutoff_ns (BIGINT): ns; a launch with a longer delay is an outlier [default: 100000]
            include_memory (BOOLEAN): whether copies and memsets count [default: true]

        Returns:
            pyarrow.Table, one row per job, rank:
            job                    VARCHAR, run of a program
            rank                   INTEGER, rank of the process
            launch_count           BIGINT, launches with a GPU activity
            activity_count         BIGINT, GPU activities of these launches
            short_count            BIGINT, launches with gpu_ns < cpu_ns
            runtime_outlier_count  BIGINT, launches with cpu_ns > runtime_cutoff_ns
            delay_outlier_count    BIGINT, launches whose delay is > launch_delay_cutoff_ns
            early_start_count      BIGINT, activities that start before their launch begins
            mean_cpu_ns            BIGINT, mean cpu_ns of a launch
            mean_gpu_ns            BIGINT, mean gpu_ns of a launch
            p50_launch_delay_ns    BIGINT, median delay
            p95_launch_delay_ns    BIGINT, 95th percentile of the delay
            max_launch_delay_ns    BIGINT, longest delay

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.launch_summary()
        """

    def memory_bandwidth_series(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Total bandwidth of each device's copies and memsets over time.

        A memset counts as a copy here. Each row is an instant at which copies of one copy_kind begin or
        end. bandwidth_gbps is the sum of the bandwidths of all copies of this kind that run between this
        row and the next row of this kind, on all streams of the device.

            HtoD, 2 GB/s    [=======)        [=======)
            HtoD, 3 GB/s        [=======)            [===)
            bandwidth_gbps  2   5   3   0    2       3   0

        The bandwidth of a copy is the value that the profiler records. If it records none, the bandwidth
        is the copy's bytes divided by its duration. A copy has no rows if neither is known. A copy of
        zero length has no rows either, since it is never under way. Sums are in fixed point with steps
        of 1e-15 GB/s, so they are exactly 0 while no copy runs.

        HTA's get_memory_bw_time_series has one row per start and one row per end, in arbitrary order if
        both are at the same instant. Its sums leave residues such as 1e-13 GB/s while no copy runs. It
        assumes 1 us for copies of zero length, and adds up all devices of a trace.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, copy_kind, at_ns:
            job             VARCHAR, run of a program
            rank            INTEGER, rank of the process
            device          BIGINT, GPU, as the process numbers it
            copy_kind       VARCHAR, Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
            at_ns           BIGINT, instant at which copies begin or end
            bandwidth_gbps  DOUBLE, sum over the copies that run until the next row

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.memory_bandwidth_series()
        """

    def memory_bandwidth_summary(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Bytes, time and bandwidth of each device's copies and memsets, by kind.

        A memset counts as a copy here. The statistics are over points. A point is a row of
        memory_bandwidth_series with a bandwidth above 0. Each point counts once, regardless of how long
        its bandwidth holds. If copies do not overlap, there is one point per copy.

            HtoD, 2 GB/s    [=======)        [=======)
            HtoD, 3 GB/s        [=======)            [===)
            points          2   5   3        2       3
            time_ns         ............     ............

            count 5, mean 3, p50 3, max 5, time_ns 24

        Quartiles interpolate linearly between points, as in pandas. stddev is the standard deviation of
        a sample; it is 0 for a single point. Copies of zero length and copies of unknown bandwidth make
        no points, but count in copy_count and bytes.

        HTA's get_memory_bw_summary computes the same statistics from HTA's own series. There, residues
        such as 1e-13 GB/s count as points. If one copy ends at the instant at which the next begins, HTA
        may also count the sum of both. HTA has no row if the profiler records no bandwidth, as with some
        profilers on AMD.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, copy_kind:
            job         VARCHAR, run of a program
            rank        INTEGER, rank of the process
            device      BIGINT, GPU, as the process numbers it
            copy_kind   VARCHAR, Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
            count       BIGINT, points; if there are none, the statistics are NULL
            mean        DOUBLE, mean of the points, in GB/s
            stddev      DOUBLE, sample standard deviation of the points, in GB/s
            min         DOUBLE, lowest point, in GB/s
            p25         DOUBLE, first quartile of the points, in GB/s
            p50         DOUBLE, median of the points, in GB/s
            p75         DOUBLE, third quartile of the points, in GB/s
            max         DOUBLE, highest point, in GB/s
            bytes       BIGINT, sum over copies with recorded bytes; NULL if there are none
            copy_count  BIGINT, copies and memsets
            time_ns     BIGINT, time with at least one copy under way

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.memory_bandwidth_summary()
        """

    def op_launch_delay(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Mean delays from ATen operator to launch, and from launch to kernel.

        An ATen operator is one whose name begins with `aten::`. A launch belongs to the innermost ATen
        operator around it on its thread, even if other operators, annotations or Python functions are
        between the operator and the launch. Launches outside ATen operators do not count. Calls without
        a launch of their own do not count.

            aten::linear   [=======================================)
            aten::mm           [=================)
            launches                 [a=)               [b=) [c=)
            GPU                            [==a==)              [=b=)[c=)
            aten::mm           |-----|-----|
            aten::linear   |----------------------------|-------|

        Launch a belongs to aten::mm, launches b and c belong to aten::linear. Only the first launch of a
        call sets the two delays of the call. The first delay runs from the operator's start to the
        launch's start. The second delay runs from the launch's start to the start of the launch's first
        activity. The second delay is negative if the clocks of host and GPU disagree by more than the
        true delay.

        Calls of an operator share a row if the names of their activities (kernels, copies and memsets)
        are the same, in the order of their starts. Means are rounded to whole ns.

        HTA's get_aten_op_kernels_and_delay differs:
          * In HTA, a launch belongs to an ATen operator that was open during the whole launch, even if
            the operator is on another thread. If there are several, the one that began last counts.
          * The result of a rank also includes the calls of the ranks before it.
          * It recognises kernel launches by name. It does not recognise launches of HIP or of CUDA
            graphs.
          * It leaves out copies and memsets.
          * It fails if it finds no launch, or if a launch has no kernel or more than one.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, operator, sequence:
            job                       VARCHAR, run of a program
            rank                      INTEGER, rank of the process
            operator                  VARCHAR, name of the operator, such as aten::mm
            sequence                  VARCHAR, names of a call's own activities, joined by ` | `
            count                     BIGINT, calls of the operator
            mean_op_to_launch_ns      BIGINT, operator's start to its first launch's start
            mean_launch_to_kernel_ns  BIGINT, first launch's start to its first activity's start

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_launch_delay()
        """

    def profiler_steps(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Start, duration, GPU time and operator count of each rank's steps.

        A step is the host annotation `ProfilerStep#N`. If a rank has no such annotation, the annotations
        that its framework puts around an iteration are its steps, then an annotation that repeats, then
        the launches of CUDA graphs. `hta-sql ingest --steps REGEX` names others. Without numbers in
        their names, the first step of a rank is 0. If a rank has several annotations with the same
        number, the step runs from the first start to the last end. An operator belongs to the step in
        which it begins. A GPU activity belongs to the step in which its launch begins, regardless of its
        device and of how late it runs. If a step launches nothing, gpu_busy_ns, gpu_span_ns and
        kernel_count are 0.

            host    [== ProfilerStep#3 ==)
            launch     |   |
            GPU            [===)   [========)

            gpu_busy_ns 4 + 9 = 13, gpu_span_ns 17, kernel_count 2

        HTA's get_profiler_steps returns only the step numbers, in one list for all ranks.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, step:
            job           VARCHAR, run of a program
            rank          INTEGER, rank of the process
            step          BIGINT, N of ProfilerStep#N, or the number of another step
            start_ns      BIGINT, start on the host
            dur_ns        BIGINT, duration on the host
            gpu_busy_ns   BIGINT, time with at least one GPU activity, on any device
            gpu_span_ns   BIGINT, first start to last end of its GPU activities
            kernel_count  BIGINT, GPU activities: kernels, copies and memsets
            op_count      BIGINT, operators that begin in the step
            step_name     VARCHAR, name of the annotation, or of the graph launch, that marks it
            marked_by     VARCHAR, what marks the rank's steps: PyTorch, vLLM, ..., annotation, graph launch or --steps

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.profiler_steps()
        """

    def queue_full_time(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        max_queue_length: int | None = 1024,
    ) -> pa.Table:
        """How long each stream's queue was full, so that the host had to wait.

        queue_length_series defines the queue length. A CUDA queue holds about 1024 activities. When
        it is full, the next launch blocks until an activity starts. A launch that blocks counts in the
        queue length from its start, so the length can exceed max_queue_length.

            launches      a b c
            activities          [a)       [b)       [c)
            queue_length  1 2 3 2         1         0
            full            xxxxxxxxxxxxxx    max_queue_length 2, full_ns 14

        Every stream with a launched activity has a row. For most streams full_ns is 0. full_frac is a
        share of the length of the rank's whole trace, even if only some steps are selected. The trace
        runs from the first start to the last end of its events.

        HTA's get_time_spent_blocked_on_full_queue reports only one stream per rank: of the streams whose
        queue was ever full, the one with the highest number. HTA divides by the time from the first
        event's start to the last event's start.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            max_queue_length (INTEGER): number of activities that fill the queue [default: 1024]

        Returns:
            pyarrow.Table, one row per job, rank, device, stream:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            device     BIGINT, GPU, as the process numbers it
            stream     BIGINT, stream, as the device numbers it
            full_ns    BIGINT, time with at least max_queue_length activities in the queue
            full_frac  DOUBLE, full_ns / length of the trace; NULL if the length is 0 or unknown

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.queue_full_time()
        """

    def queue_length_series(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Queue length of each stream after each launch and each activity start.

        An activity enters the queue of its stream when its launch begins on the host. It leaves the
        queue when it starts on the device, so a running activity is no longer in the queue. Activities
        without a launch do not count. If a launch has several activities, as a CUDA graph does, all of
        them enter the queue at the same time.

            launches      a b   c          d
            activities        [= a =)[b=)[= c =)[d)
            queue_length  1 2 1 2    1   0 1    0

        Each activity has two rows: one for its launch and one for its start. At the same instant,
        launches come before starts, and then the lower event_id comes first. If steps are selected, only
        their activities count. Activities of other steps that are still in the queue do not count.

        The length is below 0 only if an activity starts before its launch begins (is_early_start). Such
        an activity leaves the queue before it enters the queue, because the clocks of host and device
        disagree.

        HTA's get_queue_length_time_series recognises 12 launch functions, none of them for CUDA graphs.
        If several rows are at the same instant, HTA's order is arbitrary.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, stream, at_ns, event_id, change:
            job             VARCHAR, run of a program
            rank            INTEGER, rank of the process
            device          BIGINT, GPU, as the process numbers it
            stream          BIGINT, stream, as the device numbers it
            at_ns           BIGINT, start of the launch or of the activity
            event_id        BIGINT, event_id of the activity
            change          INTEGER, 1 for the launch, -1 for the start of the activity
            queue_length    BIGINT, activities in the queue after this row
            launch_id       BIGINT, event_id of the activity's launch
            is_early_start  BOOLEAN, whether the activity starts before its launch begins

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.queue_length_series()
        """

    def queue_length_summary(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Queue length of each stream: statistics over all changes, and the mean over time.

        The points are the rows of queue_length_series: one after each launch and one after each activity
        start. Statistics over points count each point once, regardless of how long the queue keeps its
        length. A burst of launches makes many points in little time, so these statistics say little
        about the length over time. time_weighted_mean is the mean over time, from the first point to the
        last.

            launches      a b c
            activities          [a)       [b)       [c)
            queue_length  1 2 3 2         1         0

            mean                (1 + 2 + 3 + 2 + 1 + 0) / 6 = 1.5
            time_weighted_mean  (1*2 + 2*2 + 3*2 + 2*10 + 1*10) / 26 = 1.62

        Percentiles interpolate linearly between points, as in pandas.

        `min` is below 0 only if activities start before their launch begins, because the clocks of host
        and device disagree. `early_start_count` counts these activities. Each such activity lowers the
        length by 1 from its start until its launch begins, even if the length stays above 0.

        HTA's get_queue_length_summary has only the statistics over points, and only for the launches
        that HTA recognises (see queue_length_series).

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, stream:
            job                 VARCHAR, run of a program
            rank                INTEGER, rank of the process
            device              BIGINT, GPU, as the process numbers it
            stream              BIGINT, stream, as the device numbers it
            count               BIGINT, points, two per launched activity
            mean                DOUBLE, mean over points
            stddev              DOUBLE, sample standard deviation over points
            min                 BIGINT, shortest queue
            p25                 DOUBLE, 25th percentile over points
            p50                 DOUBLE, median over points
            p75                 DOUBLE, 75th percentile over points
            max                 BIGINT, longest queue
            time_weighted_mean  DOUBLE, mean over time; NULL if all points are at the same instant
            early_start_count   BIGINT, activities that start before their launch begins

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.queue_length_summary()
        """

    def steady_steps(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Runs of consecutive steps that are alike in kind, load and duration: where to measure.

        Warm-up, a change of the batch, or a checkpoint makes a step unlike its neighbours. Figures over
        all steps then describe none of them. This query finds runs without such steps. To measure one of
        them, give its `steps` to a query as `only_steps`.

        Steps are of a kind if their annotations differ at most in numbers, and say the same phase and
        batch size. Prefills are of a kind if also the power of two below their number of tokens is the
        same. A step is steady if its duration differs from the median of its kind by at most a quarter.
        On several ranks, a step has the longest duration of the ranks, and the name that it has on the
        first rank.

            step        0  1  2  3  4  5  6  7
            kind        P  D  D  D  D  P  D  D      P prefill, D decode
            is steady   y  n  y  y  y  y  y  y
            run                [=====]     [==]     of D; position 1 and 2

        A run has at least 2 steps. The first by position takes most time.

        Args:
            only_jobs (VARCHAR[]): jobs to look at [default: all]
            only_ranks (INTEGER[]): ranks to look at [default: all]
            only_steps (BIGINT[]): steps to look at [default: all]

        Returns:
            pyarrow.Table, one row per job, position:
            job          VARCHAR, run of a program
            position     BIGINT, 1 for the run that takes most time, then 2, ...
            first_step   BIGINT, first step of the run
            last_step    BIGINT, last step of the run
            step_count   BIGINT, number of its steps
            step_kind    VARCHAR, name of their annotation, with 0 for numbers
            phase        VARCHAR, prefill, decode, mixed or diffusion; NULL: not shown
            batch_size   BIGINT, requests in each step; NULL: not shown
            step_p50_ns  BIGINT, median duration of the steps
            spread_frac  DOUBLE, (longest - shortest duration) / median
            total_ns     BIGINT, sum of their durations
            time_frac    DOUBLE, total_ns / time of all steps of the job
            steps        BIGINT[], the steps, in order

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.steady_steps()
        """

    def step_breakdown(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Idle, compute and non-compute time of each device in each step.

        Terms are as in temporal_breakdown. A device's step consists of the activities launched during
        the host's step. It runs from the start of the first of these activities to the end of the last.
        Usually it ends later than the host's step. Steps can overlap on the device. Each step counts
        only its own activities.

            host    [ProfilerStep#1)[ProfilerStep#2)
            device         [=======1=======) [==1==)
            device                           [======2=======)

        Activities without a launch and activities launched outside every step are left out.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, device, step:
            job                       VARCHAR, run of a program
            rank                      INTEGER, rank of the process
            device                    BIGINT, GPU, as the process numbers it
            step                      BIGINT, number of the step, as in profiler_steps
            span_ns                   BIGINT, first activity's start to last activity's end
            busy_ns                   BIGINT, time with at least one activity
            idle_ns                   BIGINT, time in the span without any activity
            compute_ns                BIGINT, time with computation
            non_compute_ns            BIGINT, busy time without computation
            communication_ns          BIGINT, time with communication
            memory_ns                 BIGINT, time with copies or memsets
            exposed_communication_ns  BIGINT, time with communication but no computation
            exposed_memory_ns         BIGINT, time with copies or memsets and nothing else
            idle_frac                 DOUBLE, idle_ns / span_ns; NULL if span_ns is 0
            compute_frac              DOUBLE, compute_ns / span_ns; NULL if span_ns is 0
            non_compute_frac          DOUBLE, non_compute_ns / span_ns; NULL if span_ns is 0

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.step_breakdown()
        """

    def temporal_breakdown(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Idle, compute and non-compute time of each device.

        A device is busy while any activity runs on it, on any stream. It computes while a computation
        kernel runs, even if other activities run at the same time. Communication and copies that overlap
        with computation therefore add no non-compute time. Communication is exposed while no computation
        runs. Copies and memsets are exposed while neither computation nor communication runs.

            computation     [===========)                 [======)
            communication         [============)
            memory              [===)       [=======)
                            cccccccccccckkkkkkkmmmmm......ccccccc

            c compute, k exposed communication, m exposed memory, . idle

        The span runs from the first activity's start to the last activity's end. An activity of zero
        length can lengthen the span, but adds no busy time. If steps are selected, only their activities
        count, and the span includes the time between the steps.

        HTA's get_temporal_breakdown has one row per rank, not per device, and rounds timestamps to whole
        microseconds. It also counts synchronisations and Triton's host operators as busy time. If one
        rank has no GPU activities, it raises an error for all ranks.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device:
            job                       VARCHAR, run of a program
            rank                      INTEGER, rank of the process
            device                    BIGINT, GPU, as the process numbers it
            span_ns                   BIGINT, first activity's start to last activity's end
            busy_ns                   BIGINT, time with at least one activity
            idle_ns                   BIGINT, time in the span without any activity
            compute_ns                BIGINT, time with computation
            non_compute_ns            BIGINT, busy time without computation
            communication_ns          BIGINT, time with communication
            memory_ns                 BIGINT, time with copies or memsets
            exposed_communication_ns  BIGINT, time with communication but no computation
            exposed_memory_ns         BIGINT, time with copies or memsets and nothing else
            idle_frac                 DOUBLE, idle_ns / span_ns; NULL if span_ns is 0
            compute_frac              DOUBLE, compute_ns / span_ns; NULL if span_ns is 0
            non_compute_frac          DOUBLE, non_compute_ns / span_ns; NULL if span_ns is 0

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.temporal_breakdown()
        """

    def after_event(
        self,
        *,
        of_name: str,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """The events after a host event with a name, on the same rank, and which one they come after.

        `of_name` is the name of a host operation: an operator, annotation, Python function, or runtime
        or driver call. In it, % stands for any text, such as '%attention%'. All other characters stand
        for themselves, and case matters.

        A host operation is after the named event if it begins at or after the end of the named event, on
        any thread of the rank. A GPU activity is after the named event if its launch is: the GPU works
        later than the host, so its own start does not tell. Activities without a launch have no row.

        If the rank has several such events, `after_id` is the last that ended. With `of_name` 'forward':

            host  1 [= forward =)
                  2               [launch)                          after_id 1
                  3                        [= forward =)            after_id 1
                  4                                      [launch)   after_id 3
            GPU   5                                [= gemm =)       after_id 1: 2 launched it

        An event of no duration ends 1 ns after its start, so that it is not after itself. If several of
        the named events end at the same time, after_id is the highest event_id.

        Args:
            of_name (VARCHAR): name of the host event; % stands for any text [required]
            only_jobs (VARCHAR[]): jobs to search [default: all]
            only_ranks (INTEGER[]): ranks to search [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job       VARCHAR, run of a program
            rank      INTEGER, rank of the process
            event_id  BIGINT, the event, in host_ops or gpu_activities
            after_id  BIGINT, event_id of the last event with the name that ended before
            cat       VARCHAR, category of the event
            name      VARCHAR, name of the event
            step      BIGINT, step of the event; NULL outside steps
            start_ns  BIGINT, start
            dur_ns    BIGINT, duration

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.after_event(of_name=…)
        """

    def before_event(
        self,
        *,
        of_name: str,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """The events before a host event with a name, on the same rank, and which one they come before.

        `of_name` is the name of a host operation, as in after_event: % stands for any text.

        A host operation is before the named event if it ends at or before the start of the named event,
        on any thread of the rank. A GPU activity is before the named event if its launch is. Activities
        without a launch have no row.

        If the rank has several such events, `before_id` is the first that begins after. With `of_name`
        'backward':

            host  1 [launch)                               before_id 2
                  2           [= backward =)               before_id 3
                  3                         [= backward =)
            GPU   4              [= gemm =)                before_id 2: 1 launched it

        An event of no duration ends 1 ns after its start, so that it is not before itself. If several of
        the named events begin at the same time, before_id is the highest event_id.

        Args:
            of_name (VARCHAR): name of the host event; % stands for any text [required]
            only_jobs (VARCHAR[]): jobs to search [default: all]
            only_ranks (INTEGER[]): ranks to search [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            event_id   BIGINT, the event, in host_ops or gpu_activities
            before_id  BIGINT, event_id of the first event with the name that begins after
            cat        VARCHAR, category of the event
            name       VARCHAR, name of the event
            step       BIGINT, step of the event; NULL outside steps
            start_ns   BIGINT, start
            dur_ns     BIGINT, duration

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.before_event(of_name=…)
        """

    def between_events(
        self,
        *,
        first_name: str,
        second_name: str,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """The events between a host event with a name and the next one with another name, on the same rank.

        Both names are names of host operations, as in after_event: % stands for any text.

        A host operation is between two such events if it begins at or after the end of the first one,
        and ends at or before the start of the second one. The second one is the next with `second_name`
        that begins at or after the end of the first one. Both events and the operation can be on any
        thread of the rank. A GPU activity is between the events if its launch is. Activities without a
        launch have no row.

        So each step has its own pair. With 'forward' and 'backward':

            step   [= 3 =========================)[= 4 =============================)
            host    [forward)   [backward)         [forward)         [backward)
                             [a)           [b)                [c)[d)

            a is between the events of step 3, c and d are between those of step 4, and b has no row.

        An event can be after several firsts with the same second. Then after_id is the last that ended.
        An event of no duration ends 1 ns after its start.

        Args:
            first_name (VARCHAR): name of the host event before; % stands for any text [required]
            second_name (VARCHAR): name of the host event after; % stands for any text [required]
            only_jobs (VARCHAR[]): jobs to search [default: all]
            only_ranks (INTEGER[]): ranks to search [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            event_id   BIGINT, the event, in host_ops or gpu_activities
            after_id   BIGINT, event_id of the first event, with first_name
            before_id  BIGINT, event_id of the second event, with second_name
            cat        VARCHAR, category of the event
            name       VARCHAR, name of the event
            step       BIGINT, step of the event; NULL outside steps
            start_ns   BIGINT, start
            dur_ns     BIGINT, duration

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.between_events(first_name=…, second_name=…)
        """

    def call_stack(
        self,
        *,
        of_event: int,
        of_rank: int | None = None,
        only_jobs: Iterable[str] | None = None,
    ) -> pa.Table:
        """An event's call stack across threads: callers, callees and their GPU activities.

        The event is a host operation or a GPU activity. A host operation is an operator, annotation,
        Python function, or runtime or driver call. Each event of the stack has a caller:

          * The caller of a GPU activity is its launch.
          * The caller of a host operation is the operation directly around it on its thread.
          * The outermost operation of an autograd thread is called by an annotation of the main thread:
            the `## backward ##` during which the operation ran. If the main thread has no `## backward
            ##`, the caller is the profiler step during which the operation ran.

        `relation` says how each row relates to the event. In this drawing, the event is aten::mm:

            main      [= ProfilerStep#5 ======================)   ancestor
                        [= Linear =)                              forward_ancestor
                          [addmm)                                 forward
                                    [= ## backward ## ========)   ancestor
            autograd                  [= AddmmBackward0 ==)       ancestor
                                        [= aten::mm ====)         self
                                         [empty)                  descendant
                                                [launch)          descendant
            GPU                                         [gemm)    activity

        If the event is part of a backward pass, the rows also include its forward operator and
        everything around that operator. The forward operator is the operator whose gradients the event
        computes. These rows lead from a backward kernel to its module and its line of the program.

        Each event has one row. An operation above both the event and its forward operator is an
        ancestor, like the step in the drawing.

        `depth` is the number of callers above the row's event, across threads. `height`, `kernel_count`
        and `kernel_ns` cover everything that the row's event called, on any thread. They count all
        of these, even those without a row.

        Rows are in depth-first order. To show them as a tree, indent each name by its `depth`. The order
        in detail:

          * Callees on the same thread come first, in order of start. Callees on other threads come after
            them.
          * An activity comes directly after its launch.
          * The forward pass comes at the end.

        If the event is neither a host operation nor a GPU activity, there are no rows.

        HTA's get_stack_of_node gives the same rows, with these differences:

          * Rows of the forward pass are missing.
          * Rows are in order of start.
          * The parent of an operation without a caller is the negated number of its thread: -3914 for
            thread 3914.
          * Activities on stream 0 are left out.
          * HTA fails if a stack is about 1,000 deep, or if rounding to whole microseconds makes a
            duration negative.

        Args:
            of_event (BIGINT): event_id of a host operation or a GPU activity [required]
            of_rank (INTEGER): rank of the event [default: every rank that has this event_id]
            only_jobs (VARCHAR[]): jobs of the event [default: every job that has this event_id]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job           VARCHAR, run of a program
            rank          INTEGER, rank of the process
            event_id      BIGINT, the event of this row
            relation      VARCHAR, self: the event; ancestor: above the event; descendant: host operation below the event; activity: launched by the event or by a descendant; forward: the event's forward operator; and forward_ancestor: above the forward operator
            depth         BIGINT, number of callers above, across threads; 0 for the outermost
            height        BIGINT, 0 for an activity; 1 for an operation that called no other operation; otherwise 1 more than the highest of its callees
            parent_id     BIGINT, event_id of the caller, across threads; NULL for the outermost
            cat           VARCHAR, category
            name          VARCHAR, name
            pid           VARCHAR, process of a host operation; NULL for an activity
            tid           VARCHAR, thread of a host operation; NULL for an activity
            device        BIGINT, GPU of an activity; NULL for a host operation
            stream        BIGINT, stream of an activity; NULL for a host operation
            start_ns      BIGINT, start
            dur_ns        BIGINT, duration
            kernel_count  BIGINT, GPU activities launched in the operation: kernels, copies and memsets; 1 for an activity
            kernel_ns     BIGINT, sum of these activities' durations

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.call_stack(of_event=…)
        """

    def execution_node_ops(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Inputs and outputs of each operator and annotation, from PyTorch's execution trace.

        An execution trace has one node per call. The node has the schema of the call, and the values,
        shapes, types and strides of its inputs and outputs.

        If the trace and the execution trace are recorded together, a call has the same number in both
        files. The trace calls this number "Record function id", and the execution trace calls it
        `rf_id`. The query joins a call and a node if both their numbers and their names are equal. Two
        nodes of a rank should not have the same number. If they do, the first of these nodes counts.

        Older profilers do not write a "Record function id". They write an "External id", which is also a
        running number of the calls. If the trace and the execution trace began at the same time, the
        "External id" of a call is equal to its `rf_id`. The query joins the calls of a rank by "External
        id" if both conditions hold:

          * No call of the rank has a "Record function id".
          * Some calls have an "External id" that is the `rf_id` of a node. More than half of these calls
            have the same name as the node.

        If the second condition fails, the two ids number different things, and the rank has no rows.
        With `only_steps`, these conditions are tested on the calls of the selected steps.

            trace            aten::mm  External id 7    aten::mm   External id 7
            execution trace  aten::mm  rf_id 7          aten::add  rf_id 7
            result           a row                      no row

        HTA's correlate_execution_trace joins by "External id" alone and does not compare names. HTA
        returns nothing if an `rf_id` of the execution trace is below the smallest or above the largest
        "External id" of the trace. So HTA returns nothing if the execution trace was recorded for longer
        than the trace.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job                 VARCHAR, run of a program
            rank                INTEGER, rank of the process
            event_id            BIGINT, the operator or annotation
            name                VARCHAR, name of the operator or annotation
            step                BIGINT, step in which it began; NULL outside steps
            start_ns            BIGINT, start of the operator or annotation
            dur_ns              BIGINT, duration of the operator or annotation
            node_id             BIGINT, number of its node in execution_nodes
            parent_node_id      BIGINT, number of its caller's node
            record_function_id  BIGINT, number of the call in both traces
            joined_by           VARCHAR, column of host_ops that finds the node: record_function_id or external_id
            op_schema           VARCHAR, the operator's signature; NULL for annotations
            kernel_backend      VARCHAR, backend that generated its kernel, such as triton; NULL if its kernel is not generated
            inputs              VARCHAR, JSON list: value of each input; of a tensor: ids, size and device
            input_shapes        VARCHAR, JSON list: sizes of each input
            input_types         VARCHAR, JSON list: type of each input
            input_strides       VARCHAR, JSON list: strides of each input; NULL if not recorded
            outputs             VARCHAR, JSON list: value of each output, as in inputs
            output_shapes       VARCHAR, JSON list: sizes of each output
            output_types        VARCHAR, JSON list: type of each output
            output_strides      VARCHAR, JSON list: strides of each output; NULL if not recorded
            attributes          VARCHAR, JSON object: everything else, such as a collective's sizes

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.execution_node_ops()
        """

    def folded_stacks(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        weight: str | None = 'gpu',
    ) -> pa.Table:
        """Time by call stack, as folded stacks: the input of flame graphs.

        A stack is the names of its operations from the outermost to the innermost, joined by `;`. Stacks
        continue across threads, as in call_stack: operations of an autograd thread come below the
        annotation of the main thread during which they ran. `weight` sets what is measured:

          * gpu: GPU activities. The stack consists of the operations around the activity's launch, then
            the launch, then the activity's short name. If an activity has no known launch, its stack is
            its short name. The weight is the sum of the activities' durations.
          * host: host operations. The weight is the sum of their self times. The self time of an
            operation is its duration minus the time of everything that it called on its thread.

        For example:

            aten::linear   [==================)
            aten::mm          [=========)
            launch               [==)
            GPU                        [=======)

            weight   stack                               weight_ns
            gpu      aten::linear;aten::mm;launch;gemm   8
            host     aten::linear                        9
            host     aten::linear;aten::mm               7
            host     aten::linear;aten::mm;launch        3

        With gpu, the weights add up to the sum of all activities' durations. With host, the weights add
        up to the time that threads spent in operations. Activities that run at the same time each count
        in full, and threads that run at the same time also each count in full. So the weights below the
        annotation of a backward pass can exceed the annotation's duration.

        An operation B can begin inside an operation A and end after A. Then B takes the place of A on
        the stack when B begins. The time from the start of B to the end of A counts twice: in the self
        time of A and in the self time of B.

        Names are changed so that flame graph tools can read the stacks: `;` becomes `:`, a control
        character becomes a blank, and an empty name becomes `[unknown]`. Stacks that are equal after
        this change make one row.

        `only_steps` selects the activities or operations that are measured. The stack of a measured
        operation or activity includes operations that began in other steps. The time of callees is
        subtracted even if the callees began in other steps.

        A stack lists at most 2,000 nested operations of one thread. If there are more, `…` stands for
        all deeper operations of this thread. Their time counts for the stack with this `…`.

        PyTorch's export_stacks has Python frames only.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            weight (VARCHAR): gpu: time of GPU activities; host: self time of host operations [default: 'gpu']

        Returns:
            pyarrow.Table, one row per job, rank, stack:
            job        VARCHAR, run of a program
            rank       INTEGER, rank of the process
            stack      VARCHAR, names, outermost first, joined by ;
            weight_ns  BIGINT, gpu: sum of the activities' durations; host: sum of the operations' self times

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.folded_stacks()
        """

    def memory_categories(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Memory of each category of tensors, after every change in a memory timeline.

        The query reads raw memory timelines. torch.profiler's export_memory_timeline writes one if the
        file name ends in raw.json.gz. (The query memory_timeline reads the trace itself, and shows the
        allocator's totals.)

        Successive changes of the file that have the same time make one row. The bytes of a row are the
        sum of all changes up to then, including the changes of the row. The peak is the row with the
        largest total_bytes.

            at_ns   change          position   input   temporary   total
            100     +8 input
            100     +4 temporary    0          8       4           12
            250     -4 temporary    1          8       0           8

        Memory that was allocated before profiling has no time in the file. This memory makes one row, at
        the first time in the timeline. If a category is newer than this query, its bytes count as
        unknown.

        The categories are PyTorch's. The category autograd is called AUTOGRAD_DETAIL in PyTorch.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, position:
            job                    VARCHAR, run of a program
            rank                   INTEGER, rank of the process
            position               BIGINT, number of the row in the file's order, from 0
            at_ns                  BIGINT, time of the changes; NULL if the timeline has no times
            parameter_bytes        BIGINT, parameters of the model
            optimizer_state_bytes  BIGINT, state of the optimizer
            input_bytes            BIGINT, inputs
            temporary_bytes        BIGINT, tensors that live within one operator
            activation_bytes       BIGINT, results of the forward pass
            gradient_bytes         BIGINT, gradients
            autograd_bytes         BIGINT, results of the backward pass that are not gradients
            unknown_bytes          BIGINT, everything else
            total_bytes            BIGINT, sum of all categories

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.memory_categories()
        """

    def memory_peak(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Peak memory of each device: when, in which operator, and how memory grows per step.

        The query reads the trace's instants `[memory]`, which the profiler writes with profile_memory.
        memory_timeline shows all of them.

        The peak of a device is the first instant with the most bytes allocated. host_stack names
        everything that was open on the peak's thread at that time, outermost first: annotations, Python
        functions, operators, and runtime and driver calls. op_stack has only the operators, and op is
        the innermost operator.

            reserved    ___________________________
            allocated   ____..../\\....____            peak at the tip
            host        [ProfilerStep#3 ===========)
                         [aten::linear ======)
                           [aten::addmm ===)          op aten::addmm

        Unallocated memory is memory that the allocator has reserved, but that no tensor uses: it is
        unused or lost to fragmentation. The unallocated bytes at an instant are NULL if nothing is
        reserved, as for the CPU, or if less is reserved than allocated.

        Growth compares the bytes allocated at the end of the first and of the last selected step:

            growth_per_step_bytes = (allocated at the end of the last step
                                     - allocated at the end of the first step)
                                    / (number of the last step
                                       - number of the first step)

        The value at the end of a step is the value of the last instant before that end. Growth is about
        0 in a training loop and above 0 in a leak. Growth is NULL if fewer than two steps are selected,
        or if the first of them ends before the first instant.

        With `only_steps`, only instants in the selected steps count. op_stack and host_stack also
        include operations that began in other steps.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, device, device_type:
            job                        VARCHAR, run of a program
            rank                       INTEGER, rank of the process
            device                     BIGINT, GPU, as the process numbers it; -1 for the CPU
            device_type                BIGINT, 0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, ...
            peak_allocated_bytes       BIGINT, most bytes in use by tensors; NULL if the trace records no total
            at_ns                      BIGINT, time of the peak
            step                       BIGINT, step in which the peak lies; NULL outside steps
            op                         VARCHAR, innermost operator open at the peak
            op_stack                   VARCHAR, operators open at the peak, outermost first, joined by ;
            host_stack                 VARCHAR, everything open at the peak, outermost first, joined by ;
            event_id                   BIGINT, event_id of the instant of the peak
            op_id                      BIGINT, event_id of the innermost operator
            peak_reserved_bytes        BIGINT, most bytes held by the allocator at any time
            unallocated_at_peak_bytes  BIGINT, reserved minus allocated bytes, at the peak
            max_unallocated_bytes      BIGINT, largest value of reserved minus allocated bytes, at any time
            growth_per_step_bytes      BIGINT, growth of allocated memory per step, as above

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.memory_peak()
        """

    def memory_timeline(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        bucket_ns: int | None = None,
    ) -> pa.Table:
        """Memory allocated and reserved on each device, at every change or in buckets of time.

        The query reads the trace's instants `[memory]`, which the profiler writes with profile_memory.
        Each instant is one allocation or release. It has the device's totals after the change: bytes
        allocated to tensors, and bytes that the caching allocator has reserved for tensors.

        If several instants of a device have the same time in ns, the row has the totals of the last one
        in the file. If the trace does not record totals, allocated_bytes and reserved_bytes are NULL.
        The query does not estimate them. change_bytes is still known.

        With `bucket_ns`, each bucket in which something changes has one row per device. Buckets are
        counted from Unix time 0. Each change in a bucket leads to new totals. A row has the largest
        allocated_bytes and the largest reserved_bytes of these totals. They can come from different
        changes. If a bucket has no row, nothing changed in it.

            changes             +4  +2  -3                      +1  -4
            allocated_bytes      4   6   3                       4   0
            buckets            [=============)[=============)[=============)
            largest value             6           no row            4

        Memory of the host is device -1, with device_type 0. The host's allocator reserves nothing. An
        instant belongs to the step in which it lies.

        memory_categories reads another file, the memory timeline that PyTorch exports.

        Args:
            only_jobs (VARCHAR[]): jobs to show [default: all]
            only_ranks (INTEGER[]): ranks to show [default: all]
            only_steps (BIGINT[]): steps to show [default: the whole trace]
            bucket_ns (BIGINT): ns; length of a bucket [default: every change]

        Returns:
            pyarrow.Table, one row per job, rank, device, device_type, at_ns:
            job              VARCHAR, run of a program
            rank             INTEGER, rank of the process
            device           BIGINT, GPU, as the process numbers it; -1 for the CPU
            device_type      BIGINT, 0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, ...
            at_ns            BIGINT, time of the change, or start of the bucket
            allocated_bytes  BIGINT, in use by tensors; with bucket_ns, the largest value of the bucket
            reserved_bytes   BIGINT, held by the allocator, in use or not; with bucket_ns, the largest value of the bucket
            change_bytes     BIGINT, allocated minus released, at this time or in this bucket
            change_count     BIGINT, allocations and releases, at this time or in this bucket

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.memory_timeline()
        """

    def module_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Host and GPU time of each nn.Module of the model, forward and backward.

        A row is one module at one place in the model. A module is an instance of a class, and the
        profiler numbers the instances of each class. `module` gives the place. It lists the instances
        around the module's calls, outermost first, and then the module itself.

          * A module that is called in several other modules has one row per place.
          * A module that calls itself has one row per depth.

        In this drawing, the modules launch activities 1 to 5, and their backward passes launch
        activities 6 to 8. `[of 4)` is the backward pass of the operator that launched activity 4.

            main       [ BertModel_0                     )
                           [ BertLayer_0             )
                              [Linear_0)  [Linear_1)
            launches     1      2   3        4         5
            autograd                                        [of 4)  [of 2, 3)
            launches                                          6       7  8

            module                            forward     backward  self
            BertModel_0                       1 2 3 4 5   6 7 8     1 5
            BertModel_0/BertLayer_0             2 3 4     6 7 8
            BertModel_0/BertLayer_0/Linear_0    2 3         7 8     2 3 7 8
            BertModel_0/BertLayer_0/Linear_1        4     6         4 6

        A GPU activity belongs to the first of these modules that exists:

          * the innermost module around its launch, on the launching thread
          * if the launch is part of a backward pass: the innermost module around the forward operator
            whose gradients are computed there

        The figures of a module include all modules that run inside it. Figures with `self` in their
        names do not count the modules inside.

        Everything that a backward pass launches counts as backward, and everything else counts as
        forward. With checkpoints, the backward pass calls a module again, to compute its activations
        again. What this second call launches counts as backward. If no module is around the second call,
        the second call counts in the row of this module's last call outside backward passes.

        Activities that belong to no module are in the last row of a rank. In this row, `module` is NULL.
        Examples:

          * activities of the optimizer
          * activities of backward passes whose forward operator is not known
          * activities without a known launch

        So the activities of a rank are split up completely: the sum of their durations is the sum of
        forward_self_kernel_ns and backward_self_kernel_ns over all rows of the rank.

        A rank without recorded modules has no rows. Either its profiler ran without stacks (with_stack),
        or its profiler is so old that it recorded modules in the arguments of operators.

        A call counts in the step in which it begins. An activity counts in the step in which its launch
        begins. A module has a row if it has a call or an activity.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, module, name:
            job                         VARCHAR, run of a program
            rank                        INTEGER, rank of the process
            module                      VARCHAR, instances as above, outermost first, joined by /
            name                        VARCHAR, the instance: class and number
            depth                       INTEGER, number of modules around the module; 0 for the outermost; NULL: no module
            count                       BIGINT, calls of the module
            host_total_ns               BIGINT, sum of the calls' durations
            host_self_ns                BIGINT, host_total_ns without the time in modules inside
            forward_kernel_count        BIGINT, GPU activities launched in the forward pass
            forward_kernel_ns           BIGINT, sum of these activities' durations
            forward_busy_ns             BIGINT, time with at least one of these activities, on any device
            forward_self_kernel_count   BIGINT, forward activities that belong to no module inside
            forward_self_kernel_ns      BIGINT, sum of these activities' durations
            backward_kernel_count       BIGINT, GPU activities launched in the backward pass
            backward_kernel_ns          BIGINT, sum of these activities' durations
            backward_busy_ns            BIGINT, time with at least one of these activities, on any device
            backward_self_kernel_count  BIGINT, backward activities that belong to no module inside
            backward_self_kernel_ns     BIGINT, sum of these activities' durations
            example_event_id            BIGINT, the call with the lowest event_id; NULL if count is 0

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.module_stats()
        """

    def op_calls(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        name_contains: str | None = None,
        min_kernels: int | None = 0,
    ) -> pa.Table:
        """Each call of an operator, with the GPU activities launched in it.

        A GPU activity counts for a call if it was launched inside the call on the call's thread, by the
        call itself or by any operator inside it. So if calls are nested, an activity counts for the call
        that launched it and for every call around that call.

            1 aten::linear   [=======================================)
            2 aten::mm           [=================)
            launches                    [==)              [==)
            GPU                               [=======)         [===)

            1   num_kernels 2, kernel_dur_sum_ns 8 + 4, kernel_span_ns 22
            2   num_kernels 1, kernel_dur_sum_ns 8, kernel_span_ns 8

        These three figures are 0 for a call without activities. `gpu_utilization_frac` is
        kernel_dur_sum_ns divided by kernel_span_ns. The fraction is NULL if the span is 0. Gaps between
        the call's activities lower the fraction. Overlapping activities of the call raise the fraction,
        so it can be above 1.

        `only_steps` selects calls by the step in which they begin. All activities launched in a selected
        call count, even if their launch began in another step.

        `parent_id` is the operation directly around the call on its thread. This operation can also be
        an annotation or a Python function.

        `forward_event_id` is set for calls in a backward pass. Such a call, or an operator around it,
        computes the gradients of an operator of the forward pass. `forward_event_id` is this forward
        operator.

        HTA's CallGraph also has num_kernels, kernel_dur_sum and kernel_span, with these differences:

          * HTA has them for every event, not only for operators.
          * In HTA, a step or `## backward ##` of the main thread also counts what the backward thread
            launches during this time.
          * HTA counts synchronisations as kernels.
          * HTA leaves out stream 0, which AMD GPUs use.
          * HTA leaves out Triton operators that have an argument `stream`.
          * In traces that HTA's class TraceAnalysis loads, all spans are wrong, because it shifts starts
            but not ends.

        Args:
            only_jobs (VARCHAR[]): jobs to list [default: all]
            only_ranks (INTEGER[]): ranks to list [default: all]
            only_steps (BIGINT[]): steps to list [default: the whole trace]
            name_contains (VARCHAR): only names that contain this; case matters [default: all]
            min_kernels (INTEGER): only calls with at least this many GPU activities [default: 0]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job                   VARCHAR, run of a program
            rank                  INTEGER, rank of the process
            event_id              BIGINT, the call
            name                  VARCHAR, name of the operator
            step                  BIGINT, step in which it begins; NULL outside steps
            start_ns              BIGINT, its start
            dur_ns                BIGINT, its duration on the host
            depth                 INTEGER, number of operations around it on its thread; 0 for the outermost
            parent_id             BIGINT, operation directly around it; NULL for the outermost
            num_kernels           BIGINT, GPU activities launched in it: kernels, copies and memsets
            kernel_dur_sum_ns     BIGINT, sum of these activities' durations
            kernel_span_ns        BIGINT, start of the first of these activities to end of the last one
            gpu_utilization_frac  DOUBLE, kernel_dur_sum_ns / kernel_span_ns; can be above 1
            input_dims            VARCHAR, sizes of its inputs, as JSON
            input_types           VARCHAR, types of its inputs, as JSON
            is_backward           BOOLEAN, whether it is part of a backward pass
            forward_event_id      BIGINT, its operator of the forward pass; NULL if not known

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_calls()
        """

    def op_flops(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        peak_tflops: float | None = None,
        peak_gbps: float | None = None,
        by_strides: bool | None = False,
    ) -> pa.Table:
        """FLOPs and bytes of operators by shape, and how close they come to the roofline.

        `flops` is known for matrix products, convolutions, attention and mixtures of experts. `flops`
        counts the multiplications and additions of the operator's formula. A multiplication with its
        addition counts as two operations. For the other families, only `bytes` is known.

        `bytes` is the least that has to move: every operand is read once, and every result is written
        once. The formulas and their sources are in sql/relations/operators, one file per family. They
        cover operators of PyTorch, vLLM, SGLang, aiter, flash-attention and others.

        The cost of attention over a cache depends on the lengths of the sequences, which no argument
        shows. It is known if an annotation around the call gives their sums, as servers can write it.

        The profiler does not record the types of tensors in a list. For operators on lists, such as
        aten::cat and fused optimizers, the type is known if the name of their kernel contains it.

        These operators and operations have no row:

          * operators that these files do not list
          * operators without recorded shapes (the profiler's record_shapes)
          * operators whose shapes do not fit the formula
          * operations of a graph replay, unless they are known from the capture of the graph

        Operators that have rows can be nested. Only rows with `is_counted` can be added up: they contain
        each computation and each activity once. These operators are counted:

          * An operator with known `flops`: if no other operator with known `flops` is inside it.
          * An operator without known `flops`: if no operator inside it has rows, and no operator around
            it is counted.

        For example:

            aten::linear   [====================)   repeats the addmm: not counted
            aten::t         [==)                    cost not known: no row
            aten::addmm        [===============)    counted
            launch               |
            GPU                     [= gemm =)      in kernel_ns of both rows

        Rates cover only the calls that launched a GPU activity. In the roofline model, a call takes at
        least the longer of two times:

            compute time = operations of the call / peak of the device
            memory time  = bytes of the call / peak bandwidth of its memory

        `bound` says which time is longer. `roofline_frac` is the longer time divided by the time of the
        kernels. If `roofline_frac` is above 1, operands came from caches. If only bytes are known, the
        memory time counts, and `bound` is memory.

        Unless parameters set the peaks, they are from the view device_peaks, by the trace's device name
        and the operands' type. float32 counts as tf32 if one of the row's kernels runs on NVIDIA's
        tensor cores, which do not support float32.

        If a needed peak is not known, `roofline_frac` is NULL. If `flops` of the row is known, `bound`
        is then NULL, too. If only `bytes` is known, `bound` is memory even without a peak.

        If nothing shows the weights of a mixture of experts, its `flops` are not known, and `bytes` are
        those of its tokens, by far too few. Such a row has no rate, no `bound` and no `roofline_frac`.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): calls that begin in these steps [default: the whole trace]
            peak_tflops (DOUBLE): peak for all data types, in 1e12 operations per second [default: the peak of each data type in device_peaks]
            peak_gbps (DOUBLE): peak bandwidth of the memory, in GB/s [default: device_peaks]
            by_strides (BOOLEAN): also one row per strides of the arguments [default: false]

        Returns:
            pyarrow.Table, one row per job, rank, name, input_dims, input_types, concrete_inputs, is_counted, input_strides:
            job                   VARCHAR, run of a program
            rank                  INTEGER, rank of the process
            name                  VARCHAR, name of the operator
            input_dims            VARCHAR, JSON: sizes of each argument
            input_types           VARCHAR, JSON: type of each argument
            concrete_inputs       VARCHAR, JSON: values of arguments that are numbers; NULL for elementwise operators
            is_counted            BOOLEAN, whether the row counts in sums of rows
            input_strides         VARCHAR, with by_strides: strides of each argument, as JSON; otherwise NULL
            family                VARCHAR, with flops: matrix product, convolution, convolution backward, attention, attention backward, mixture of experts. With bytes: elementwise, reduction, normalization, normalization backward, activation, rotary embedding, cache, routing, quantization, indexing, concatenation, sorting, loss, pooling, resampling, optimizer, linear attention, compiled
            dtype                 VARCHAR, data type of the operations: float16, tf32, ...
            is_estimated          BOOLEAN, whether flops and bytes are only an estimate: an upper bound, or guesses where arguments do not show everything
            count                 BIGINT, calls of the operator
            flops                 BIGINT, operations of all calls; NULL: only bytes are known
            bytes                 BIGINT, least bytes moved by all calls
            launching_call_count  BIGINT, calls that launched GPU activities
            kernel_count          BIGINT, GPU activities launched in the calls, at any depth
            kernel_ns             BIGINT, sum of these activities' durations
            achieved_tflops       DOUBLE, operations of launching calls / kernel_ns, in 1e12 operations per second
            achieved_gbps         DOUBLE, bytes of launching calls / kernel_ns
            arithmetic_intensity  DOUBLE, operations per byte: flops / bytes
            bound                 VARCHAR, longer time in the roofline model: compute or memory
            roofline_frac         DOUBLE, least time of launching calls in the roofline model / kernel_ns
            kernel_min_ns         BIGINT, least kernel_ns of one launching call; NULL: none
            kernel_p50_ns         BIGINT, median
            kernel_p95_ns         BIGINT, 95th percentile
            kernel_max_ns         BIGINT, most
            kernel_stddev_ns      BIGINT, standard deviation of the sample; 0 for one call

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_flops()
        """

    def op_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        by_shape: bool | None = False,
        by_strides: bool | None = False,
        name_contains: str | None = None,
    ) -> pa.Table:
        """Time of each operator on each rank: on the host, and of its GPU activities.

        A GPU activity counts for a call of an operator if it was launched inside the call on the call's
        thread, by the call itself or by any operator inside it. Activities that other threads launch at
        the same time count for the operators of those threads. Activities without a known launch count
        for no operator.

            aten::linear   [=======================================)
            aten::mm           [=================)
            launches                  [==)              [==)
            GPU                             [=======)         [===)

                           kernel_count  kernel_ns  kernel_span_ns  self_kernel_ns
            aten::linear   2             8 + 4      22              4
            aten::mm       1             8          8               8

        `host_total_ns` is the sum of the calls' durations. A call inside another call of the same name
        counts like any other call, so its time counts for both calls.

        `host_self_ns` is host_total_ns minus the time of everything that the calls called directly:
        operators, Python functions, annotations, runtime and driver calls. `host_self_ns` counts no time
        twice, so operators can be compared and added up.

        The kernel figures count each activity once per name. If an activity is launched in a call inside
        another call of the same name, the activity counts for the outer call.

          * `kernel_span_ns` is the time from the start of a call's first activity to the end of the
            call's last activity, with all waiting in between. This time is summed over the calls that
            are inside no other call of the name.
          * `gpu_utilization_frac` is kernel_ns / kernel_span_ns. It can be above 1 if activities
            overlap.
          * `kernel_busy_ns` counts overlapping activities once, so it is never above kernel_span_ns.
          * `self_kernel_ns` is the time of the activities that the calls launched themselves, without
            the activities of operators inside them. Over all operators, `self_kernel_ns` adds up to the
            time of all activities launched in operators.

        With `by_shape`, a row has the calls with the same name, input_dims and input_types. The rules
        above for calls of the same name then hold for the calls of a row. input_dims and input_types are
        NULL if the profiler did not record them. With `by_strides`, the calls of a row also have the
        same strides. A stride is the number of elements in memory from one index to the next: it shows
        which inputs are transposed. Operators in replays of a graph have no strides.

        A call in a replay of a CUDA graph counts, too, if the operator is known from the capture of the
        graph (see host_calls). It takes no time of the host. Operators of the capture that launched
        nothing do not count.

        `only_steps` selects calls by the step in which they begin. A selected call is an outer call if
        no other selected call of the same name is around it. Everything inside a selected call counts,
        even if it began in another step.

        op_calls says how HTA's CallGraph differs.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]
            by_shape (BOOLEAN): one row per name, shapes and types, instead of per name [default: false]
            by_strides (BOOLEAN): one row per name, shapes, types and strides [default: false]
            name_contains (VARCHAR): only names that contain this; case matters [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, name, input_dims, input_types, input_strides:
            job                   VARCHAR, run of a program
            rank                  INTEGER, rank of the process
            name                  VARCHAR, name of the operator
            input_dims            VARCHAR, with by_shape or by_strides: sizes of its inputs, as JSON; otherwise NULL
            input_types           VARCHAR, with by_shape or by_strides: types of its inputs, as JSON; otherwise NULL
            input_strides         VARCHAR, with by_strides: strides of its inputs, as JSON; otherwise NULL
            count                 BIGINT, calls of the operator
            host_total_ns         BIGINT, sum of the calls' durations
            host_self_ns          BIGINT, host_total_ns without the time of what the calls called
            kernel_count          BIGINT, GPU activities launched in the calls: kernels, copies and memsets
            kernel_ns             BIGINT, sum of these activities' durations
            kernel_busy_ns        BIGINT, time with at least one of these activities, on any device
            kernel_span_ns        BIGINT, start of a call's first activity to end of its last, summed over outer calls
            self_kernel_ns        BIGINT, sum of durations of the activities that the calls launched themselves
            gpu_utilization_frac  DOUBLE, kernel_ns / kernel_span_ns; can be above 1
            example_event_id      BIGINT, the call with the lowest event_id; below 0 if all calls are of replays
            launching_call_count  BIGINT, outer calls that launched GPU activities
            kernel_min_ns         BIGINT, least kernel_ns of one of these calls; NULL: none
            kernel_p50_ns         BIGINT, median
            kernel_p95_ns         BIGINT, 95th percentile
            kernel_max_ns         BIGINT, most
            kernel_stddev_ns      BIGINT, standard deviation of the sample; 0 for one call
            recomputed_ns         BIGINT, part of kernel_ns that repeats the forward pass during a backward pass, as activation checkpointing does
            category              VARCHAR, kernel category that takes most of self_kernel_ns; NULL: the calls launched no activities themselves

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_stats()
        """

    def step_mfu(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
        peak_tflops: float | None = None,
    ) -> pa.Table:
        """Model FLOPs utilisation (MFU) of each step, as a share of the device's peak.

        `mfu_frac` is the time that the model's matrix products, convolutions and attention would take at
        the device's peak, divided by the step's time. Every operation counts at the peak of its own
        data type. So the query needs no single peak for a mix of formats:

            mfu_frac = (flops in bfloat16 / peak of bfloat16
                        + flops in float32 / peak of float32 + ...) / time_ns

        op_flops defines which operations an operator has. If operators with known operations are nested,
        only the innermost counts (see `is_counted` there). The rules are from appendix B of the PaLM
        paper:

          * The number of operations follows from shapes.
          * Elementwise operators and adding a bias count nothing.
          * A multiplication with its addition counts as two operations.
          * Time is all time, including waits.

        PaLM takes the operations from the model's size. This query takes them from the calls. So padding
        counts, and causal attention counts only the pairs that attend to each other.

        Operations that activation checkpointing runs again count only in `hfu_frac` (hardware FLOPs
        utilisation). The operations of a call were run again if both conditions hold:

          * The call is in a backward pass.
          * The call records a new autograd node, as calls in a forward pass do. The node can also be
            recorded by an operator around the call whose number of operations is known.

        The gradient of a gradient also meets these conditions, so it counts only in `hfu_frac`.

        `coverage_frac` is the share of the computation kernels' time that is in calls whose operations
        count. If coverage is low, `mfu_frac` and `hfu_frac` are far too low. The rest of the time is in:

          * elementwise and other operators for which no operations are known
          * operators without recorded shapes (the profiler's record_shapes)
          * operations that torch.compile fused, or that run in a CUDA graph
          * operators whose operations could only be estimated

        Steps and devices:

          * The operations of a call belong to the step and the device of the first activity that the
            call launched. A call that launched no activity does not count.
          * The time of a step is the duration of its annotation on the host.
          * A rank without steps has one row per device. The step of this row is NULL. The time of
            this row is the device's span.
          * On a rank with steps, activities outside all steps are left out.

        `mfu_frac` and `hfu_frac` are NULL if a peak is not known (see the view device_peaks), or if no
        operation is known.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: all]
            peak_tflops (DOUBLE): peak for all data types, in 1e12 operations per second [default: the peak of each data type in device_peaks]

        Returns:
            pyarrow.Table, one row per job, rank, device, step:
            job               VARCHAR, run of a program
            rank              INTEGER, rank of the process
            device            BIGINT, GPU, as the process numbers it
            step              BIGINT, number of the step, as in profiler_steps; NULL: no steps
            time_ns           BIGINT, time of the step on the host; without steps, the device's span
            computation_ns    BIGINT, sum of the durations of computation kernels
            modelled_ns       BIGINT, part of computation_ns in calls whose operations count
            coverage_frac     DOUBLE, modelled_ns / computation_ns
            flops             BIGINT, operations, without operations that were run again
            recomputed_flops  BIGINT, operations that were run again
            achieved_tflops   DOUBLE, flops / time_ns, in 1e12 operations per second
            mfu_frac          DOUBLE, time that flops take at the peak / time_ns
            hfu_frac          DOUBLE, time that flops and recomputed_flops take at the peak / time_ns

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.step_mfu()
        """

    def sync_points(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """Where the host waits for a device: synchronisations, blocking copies, and their operators.

        A sync point is a call or operator that makes the host wait. A row has all sync points of a rank
        with the same name. There are three kinds: `wait`, `copy` and `operator`.

        `wait` is a runtime or driver call whose name says that it waits for a device, stream or event:
        cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize, cuCtxSynchronize, and similar
        calls of HIP, SYCL, Level Zero, MTIA, ... (blocking_calls.sql has the rules). These calls are not
        listed:

          * cudaStreamWaitEvent and similar calls: a stream waits, not the host.
          * cudaEventQuery and similar calls: they ask whether work is done, and do not wait for it.
          * cudaMalloc, cudaFree and others: they do other work, and may block the host in addition.

        `copy` is a call that copies and blocks the host. The launch of a graph is not a copy. There are
        three cases:

          * The copy is synchronous by its name (cudaMemcpy, hipMemcpyWithStream). For a copy between
            devices, the name guarantees nothing. Such a copy counts if the call returned only after the
            copy's end.
          * The copy is from a device into pageable memory. If the trace calls the memory neither
            pageable nor pinned, the copy counts if the call returned only after the copy's end.
          * The copy is from a device to the host, and the next runtime or driver call that the same
            operator makes, on the same thread, is a `wait`.

        `operator` is an ATen operator around such calls, directly or with other operations in between:
        aten::item, aten::_local_scalar_dense, aten::nonzero, aten::is_nonzero, aten::to, ... An
        operator counts only if it waits. For example, aten::item of a tensor on the CPU does not count.

            1     [=================================)
            2       [==============================)
            3         [=====)
            4                  [===================)
            GPU  [==================)        [====)

                                          host_ns  self_ns  wait_ns  gpu_busy_ns
            1  aten::item                 34       3        26       12
            2  aten::_local_scalar_dense  31       5        26       12
            3  cudaMemcpyAsync            6        6        6        6
            4  cudaStreamSynchronize      20       20       20       6

        So one wait counts in several rows: in the row of the call and in the rows of the operators
        around the call.

          * `host_ns` is the sum of the durations of all calls of the name.
          * `self_ns` is host_ns without the sync points inside. The self_ns of all rows add up to the
            time in which threads had a sync point on their stack. The self_ns of waits and copies add up
            to the time that these calls waited. If another span begins during a call and ends after the
            call, self_ns counts the call only until this span begins.
          * `wait_ns` is the part of host_ns in waits and blocking copies.
          * `gpu_busy_ns` is the part of wait_ns in which any of the rank's devices ran something. The
            rest of wait_ns is waiting while the devices were idle.

        If calls of one name are nested, self_ns counts their time once. All other times count it several
        times.

        With `only_steps`, a call counts if it began in a selected step. An operator counts if both its
        own step and the step of its wait are selected. GPU activities and callers of all steps count.

        PyTorch's profiler synchronises the device when it stops. This wait is also listed. It is mostly
        outside all steps.

        HTA counts the profiler's cuda_sync events as GPU activities.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, name:
            job               VARCHAR, run of a program
            rank              INTEGER, rank of the process
            name              VARCHAR, name of the call or operator
            kind              VARCHAR, wait, copy or operator
            count             BIGINT, calls that waited
            host_ns           BIGINT, sum of these calls' durations
            self_ns           BIGINT, host_ns without the sync points inside
            wait_ns           BIGINT, part of host_ns in waits and blocking copies
            gpu_busy_ns       BIGINT, part of wait_ns with at least one GPU activity
            max_ns            BIGINT, longest call
            caller            VARCHAR, operator directly around the calls; if there are several, the one with the largest caller_ns
            caller_ns         BIGINT, sum of the durations of the calls directly in `caller`
            caller_count      BIGINT, different operators directly around the calls
            example_event_id  BIGINT, the longest call; if several are equally long, the first of them

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.sync_points()
        """

    def thread_stats(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_steps: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """What each host thread did, for how long, and what it launched.

        Every instant of a thread counts for the innermost span that is open at this instant. The span
        has one of these kinds:

            operator      operators
            annotation    annotations, for code in them that has no span of its own
            python        Python functions: only traces with stacks have them
            runtime       runtime and driver calls that do not wait: launches, ...
            sync          runtime and driver calls that wait for the device: names with `synchronize`
            data_loading  annotations and operators `enumerate(DataLoader)#...`, and everything inside
                          them, of any kind

        So the times of the kinds add up to busy_ns. The rest of span_ns is idle, or is code that the
        trace does not record.

        In this drawing, the second runtime call begins inside the operator and ends after it. From its
        beginning on, all instants count for the runtime call:

            annotation    [= step ==============)          [=====)
            operator          [========)
            runtime             [==)  [=====)
            counts for    aaaaoorrrooorrrrrraaaa           aaaaaa

        An instant belongs to the step in which its innermost span began. With `only_steps`, only
        instants of the selected steps count as busy. A thread has no row if none of its spans began in a
        selected step.

        `role` is one of:

          * main: a thread with marks of steps. If no thread of the rank has marks of steps,
            main is the thread with the same id as its process.
          * autograd: any other thread that runs operators of PyTorch's autograd. These operators have
            `autograd::` in their names.
          * NULL: all other threads.

        The GPU activities of a thread are the activities of the selected steps whose launch is on this
        thread.

        Args:
            only_jobs (VARCHAR[]): jobs to measure [default: all]
            only_ranks (INTEGER[]): ranks to measure [default: all]
            only_steps (BIGINT[]): steps to measure [default: the whole trace]

        Returns:
            pyarrow.Table, one row per job, rank, pid, tid:
            job               VARCHAR, run of a program
            rank              INTEGER, rank of the process
            pid               VARCHAR, id of the process
            tid               VARCHAR, id of the thread
            thread_name       VARCHAR, name of the thread; if the trace has several names for it, the last of these; NULL if the trace has none
            role              VARCHAR, main, autograd or NULL
            start_ns          BIGINT, start of the first span
            span_ns           BIGINT, start of the first span to end of the last
            busy_ns           BIGINT, time with at least one span open
            operator_ns       BIGINT, part of busy_ns in operators
            annotation_ns     BIGINT, part of busy_ns in annotations
            python_ns         BIGINT, part of busy_ns in Python functions
            runtime_ns        BIGINT, part of busy_ns in runtime and driver calls that do not wait
            sync_ns           BIGINT, part of busy_ns in runtime and driver calls that wait for the device
            data_loading_ns   BIGINT, part of busy_ns in data loaders
            op_count          BIGINT, operators
            annotation_count  BIGINT, annotations
            python_count      BIGINT, calls of Python functions
            runtime_count     BIGINT, runtime and driver calls, including those that wait
            launch_count      BIGINT, runtime and driver calls that launched GPU activities
            kernel_count      BIGINT, GPU activities launched on the thread: kernels, copies and memsets
            kernel_ns         BIGINT, sum of these activities' durations
            kernel_busy_ns    BIGINT, time with at least one of these activities, on any device

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.thread_stats()
        """

    def under_operator(
        self,
        *,
        of_name: str,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """The events under operators with a name: calls inside them, and the GPU activities launched there.

        `of_name` is the name of a host operation: an operator, annotation, Python function, or runtime
        or driver call. In it, % stands for any text, such as '%attention%'. All other characters stand
        for themselves, and case matters. Here, all these host operations are called operators.

        An event is under an operator if one of these holds:

          * It is the operator itself.
          * It is on the operator's thread, begins in the operator, and ends no later.
          * It is on an autograd thread, and an annotation that is the operator or is inside it called
            that work (caller_id in host_ops). So the backward pass is under `## backward ##`.
          * It is a GPU activity, and its launch is under the operator. In the replay of a CUDA graph,
            the launch is that of the graph, or the one that was recorded into the graph.

        In this drawing, `of_name` is 'attn':

            main  1 [= step ===================================)
                  2   [= attn ===========)
                  3     [= attn =)                   under_id 2
                  4       [launch)                   under_id 2
                  5                        [launch)  no row
            GPU   6                   [= gemm ==)    under_id 2: 4 launched it

        A span contains its start, and not its end. A span of no duration is inside a span that begins at
        its instant, and not inside one that ends there. Of spans with the same start and end, the one
        with the lower event_id is around the other.

        Args:
            of_name (VARCHAR): name of the operators; % stands for any text [required]
            only_jobs (VARCHAR[]): jobs to search [default: all]
            only_ranks (INTEGER[]): ranks to search [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, event_id:
            job       VARCHAR, run of a program
            rank      INTEGER, rank of the process
            event_id  BIGINT, the event, in host_ops or gpu_activities
            under_id  BIGINT, event_id of the outermost operator with the name that the event is under; below 0: replayed, in host_calls
            cat       VARCHAR, category of the event
            name      VARCHAR, name of the event
            step      BIGINT, step of the event; NULL outside steps
            start_ns  BIGINT, start
            dur_ns    BIGINT, duration

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.under_operator(of_name=…)
        """

    def critical_path(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_windows: Iterable[str] | None = None,
    ) -> pa.Table:
        """The critical path of a step on a rank: the longest chain of dependent work.

        `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the path of a
        step, an annotation or a whole trace, and stores it. This query reads the stored path. As long as
        no path is stored, the query has no rows.

        The path comes from a graph. Each operator, runtime call (such as cudaLaunchKernel) and GPU
        activity has two nodes: its start and its end. If node B had to wait for node A, an edge goes
        from A to B. The path is the chain of edges with the largest sum of time_ns:

            host    [aten::mm [launch] )[aten::item [cudaStreamSynchronize    ] )
            stream                  [===== gemm =====)   [=== copy ===)
            path    aaaaaaaaaabbbbbbccccccccccccccccccdddeeeeeeeeeeeeeessssssssff

            a, c, e, f  operator (a aten::mm, c gemm, e copy, f aten::item)
            b           kernel_launch_delay
            d           kernel_kernel_delay
            s           sync_dependency

        time_ns of an edge depends on the kind of edge:

            operator             self time of an operator or call, or duration of a
                                 GPU activity
            kernel_launch_delay  time from the start of a launch to the start of its
                                 activity
            kernel_kernel_delay  time from the end of an activity to the start of
                                 the next activity on its stream
            sync_dependency      always 0; the edge leads from the end of an
                                 activity to what waited for this end: to the end
                                 of a call, or to the start of another activity
            dependency           always 0; the edge leads from one thread's work to
                                 another thread's work, or across a pause

        start_ns and end_ns of an edge may differ even if its time_ns is 0: edge s in the drawing is 8
        columns long, but its time_ns is 0. Three kinds of time therefore do not count in the path's
        time:
          * The wait of a call for the device. Instead of the call, the path has the activity that the
            call waits for, and then a sync_dependency from the activity to the end of the call.
          * A pause between two outermost operators of a thread. It is a dependency, since the trace
            records no work there. critical_path_ranks counts it as host time.
          * A launch delay or kernel-kernel delay of 1.5 ms or more. It is a dependency, too.

        The profiler's cuda_sync rows (enable_cuda_sync_events) record which stream waits for which
        stream, and what a call waits for. Most traces have no such rows. For waits without such a row,
        the graph assumes:
          * A call that waits for the device waits for the activity that ended last during the call.
          * An activity could begin when all of these have ended: its launch, the activity before it on
            its stream, and its recorded waits. If it begins 100 us later or more, it waits for the
            activity that ended last on the device during this delay.
          * In a CUDA graph launch, an activity waits for one activity of the same launch: the one that
            ended last during this delay. Here, the delay can be shorter than 100 us.

        HTA's critical_path_analysis gives edges the same times, but HTA's graph has only one activity
        per CUDA graph launch. HTA connects the autograd thread and the training thread only if one
        thread has names with "autograd" and the other thread has names with "forward".
        docs/differences-from-hta.md lists the other differences.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]
            only_windows (VARCHAR[]): windows to report, as in path_window [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, path_window, position:
            job              VARCHAR, run of a program
            rank             INTEGER, rank of the process
            path_window      VARCHAR, window of the path: `step N`, `NAME #INSTANCE` or `trace`
            position         BIGINT, place on the path, from 1
            event_id         BIGINT, event that takes the edge's time; NULL if edge is dependency or sync_dependency
            name             VARCHAR, name of the event in event_id
            edge             VARCHAR, kind of edge, as above: operator, dependency, kernel_launch_delay, kernel_kernel_delay or sync_dependency
            bound_by         VARCHAR, category of the edge, as in critical_path_summary: cpu_bound, gpu_compute_bound, gpu_communication_bound, gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead or data_loading; NULL if edge is dependency or sync_dependency
            start_ns         BIGINT, start of the edge
            end_ns           BIGINT, end of the edge
            time_ns          BIGINT, time of the edge that counts in the path's time, as above
            source_event_id  BIGINT, event at whose start or end the edge begins
            target_event_id  BIGINT, event at whose start or end the edge ends

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.critical_path()
        """

    def critical_path_ops(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_windows: Iterable[str] | None = None,
    ) -> pa.Table:
        """Time on each rank's critical path, by operator: what to make faster first.

        `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the paths and
        stores them (see critical_path). An edge of a path belongs to the operator of its event:

          * of an operator: the operator itself, without the operators inside it
          * of a call, such as a launch: the innermost operator around it
          * of a GPU activity: the innermost operator around its launch. In a graph replay, this is the
            operator that recorded the activity, if it is known

        The delay before an activity's start, after its launch, belongs to the activity. The delay
        between two activities of a stream belongs to the first of them.

            host    [aten::linear [aten::addmm [launch) )   )  [aten::relu [launch)      )
            stream                              [==== gemm ====)  [== relu ==)
            path    lllllllllllllllaaaaaaaaaaaaadggggggggggggggg d rrrrrrrrrrrr

            operator      host_ns  gpu_ns  delay_ns
            aten::linear  l
            aten::addmm   a        g       d
            aten::relu             r

        The values of time_frac of a path add up to 1. A faster operator can make another path the
        longest: what_if computes the time that is saved.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]
            only_windows (VARCHAR[]): windows to report, as in path_window [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, path_window, operator:
            job          VARCHAR, run of a program
            rank         INTEGER, rank of the process
            path_window  VARCHAR, window of the path: `step N`, `NAME #INSTANCE` or `trace`
            operator     VARCHAR, name of the operator; NULL: outside operators
            host_ns      BIGINT, time of operators and calls on the path
            gpu_ns       BIGINT, time of GPU activities on the path
            delay_ns     BIGINT, delays from launches to activities, and between activities
            time_ns      BIGINT, host_ns + gpu_ns + delay_ns
            time_frac    DOUBLE, share of the path's time
            edge_count   BIGINT, edges of the path

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.critical_path_ops()
        """

    def critical_path_ranks(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_windows: Iterable[str] | None = None,
    ) -> pa.Table:
        """The critical path through all ranks of a job: its time by rank and category.

        `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes one path over all
        ranks of a job, and stores it. This query reads the stored path.

        The graph joins the graphs of all ranks (see critical_path), on aligned clocks (see
        clock_offsets). Two kinds of paired calls (see collectives) connect the ranks: messages, and
        collectives that all members leave together.

        If only some ranks are computed (only_ranks), the others count as if they began each call no
        later than the computed ranks did.

        The path is found backwards in time, from the end of the window. If a node waited for several
        nodes, the path goes back to the node whose time plus the delay after it is largest (see
        what_if). Where a rank waits for another rank, the path therefore runs on the rank that came
        last:

            rank 0   [= forward =)[====== all_reduce ======)[= optimizer =)
            rank 1   [======= forward =======)[ all_reduce )[= optimizer =)
            path      ----- rank 1 ----------> - transfer ->  - rank 0 or 1 ->

        The path covers the window without a gap, so the values of time_frac of a job's window add up to
        1. Time between operators counts as host time here (cpu_bound).

        If rank_frac is much larger for one rank than for the others, this rank delays the other ranks.

        HTA's critical path covers only one rank.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_windows (VARCHAR[]): windows to report, as in path_window [default: all]

        Returns:
            pyarrow.Table, one row per job, path_window, rank, bound_by:
            job          VARCHAR, run of a program
            path_window  VARCHAR, window of the path: `step N`, `NAME #INSTANCE` or `trace`
            rank         INTEGER, rank of the process
            bound_by     VARCHAR, category of the time, as in critical_path_summary, or earlier_window: the device still runs activities of an earlier window
            time_ns      BIGINT, time of the rank and category on the job's path
            time_frac    DOUBLE, time_ns / time of the path
            rank_frac    DOUBLE, share of the path's time on this rank, over all values of bound_by
            edge_count   BIGINT, edges of the path

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.critical_path_ranks()
        """

    def critical_path_summary(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
        only_windows: Iterable[str] | None = None,
    ) -> pa.Table:
        """Time on each rank's critical path, by category: host, GPU, communication or delay.

        `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the paths and
        stores them (see critical_path). The values of time_frac of a path add up to 1. bound_by is one
        of these categories:

            cpu_bound                   operators and calls on the host
            data_loading                PyTorch's DataLoader on the host, and
                                        annotations that `--data-loading` names
            gpu_compute_bound           computation kernels, copies and memsets
            gpu_communication_bound     collectives and messages, with their waits
                                        for other ranks
            gpu_kernel_launch_overhead  delay from the start of a launch to the
                                        start of its activity
            gpu_kernel_kernel_overhead  delay from the end of an activity to the
                                        start of the next activity on its stream

        HTA's summary() of a critical path reports percentages of the path's time.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_ranks (INTEGER[]): ranks to report [default: all]
            only_windows (VARCHAR[]): windows to report, as in path_window [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, path_window, bound_by:
            job          VARCHAR, run of a program
            rank         INTEGER, rank of the process
            path_window  VARCHAR, window of the path: `step N`, `NAME #INSTANCE` or `trace`
            bound_by     VARCHAR, category of the time, as above
            time_ns      BIGINT, time of the category on the path
            time_frac    DOUBLE, share of the path's time
            edge_count   BIGINT, edges of the path

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.critical_path_summary()
        """

    def what_if(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_windows: Iterable[str] | None = None,
    ) -> pa.Table:
        """Time that a step would save if something were faster or gone.

        `hta-sql critical-path ARCHIVE` (in Python: run.compute_critical_path) computes the scenarios
        below for a window of a job: a step, an annotation or the whole trace. Its option `--faster
        NAME=TIMES` adds a scenario in which NAME is TIMES times faster.

        The scenarios use the graph of all ranks (see critical_path and critical_path_ranks). Each node
        waits for other nodes, and each edge between two nodes has a delay:

            time of a node = maximum over the edges to it of
                             (time of the edge's source + delay)

        With the delays of the trace, this formula gives the recorded times. A scenario shortens some
        delays, and then all times are computed again:

            communication_at_median  no collective or message is slower than the
                                     median of its kind in the archive: same name,
                                     data type, sizes and group size
            communication_hidden     transfers take no time; ranks still wait for
                                     the last rank
            launch_overhead_gone     launch calls take no time, and activities can
                                     begin as soon as their launch begins
            data_loading_gone        data loading takes no time
            rank_as_median           on the slowest rank, no operator, call or
                                     kernel takes longer than on the median rank;
                                     the slowest rank has the most time on the
                                     job's path, without communication
            faster                   the subject takes 1/`factor` of its time; the
                                     subjects are the names given by `--faster`,
                                     and (with factor 2) the three kernels with the
                                     most time on the job's path

        The column `method` states each scenario's rule. All scenarios assume that the program does the
        same work in the same order, with the same dependencies as in the trace.

        If a node waits for several nodes, the trace shows the delay only for the node that came last.
        The delays of the other nodes are assumed to be:
          * from a launch to its activity: the median launch delay
          * from the end of an activity to the next activity: the median kernel-kernel delay
        No assumed delay is longer than the recorded time between the two nodes.

        step_ns and new_step_ns are the longer of two durations:
          * on the host: from the moment when all ranks have begun the window to the moment when all
            ranks have ended it
          * on the devices: from the moment when the devices of all ranks can work for the window to the
            moment when all activities of the window have ended. If the host runs far ahead of the
            devices, this duration is the longer one.

        The devices of a rank can work for the window once the rank has begun it and its earlier
        activities have ended. In every scenario, they can do so at the same time as in the trace, and
        the host begins the window at its recorded time. So time that a scenario would save in earlier
        windows does not count.

        Args:
            only_jobs (VARCHAR[]): jobs to report [default: all]
            only_windows (VARCHAR[]): windows to report, as in path_window [default: all]

        Returns:
            pyarrow.Table, one row per job, path_window, scenario, subject, factor:
            job          VARCHAR, run of a program
            path_window  VARCHAR, window of the job: `step N`, `NAME #INSTANCE` or `trace`
            scenario     VARCHAR, name of the scenario, as above
            subject      VARCHAR, name or rank that the scenario changes; NULL if it changes all
            factor       DOUBLE, how many times faster the subject is; NULL unless `scenario` is faster
            step_ns      BIGINT, duration of the window as recorded
            new_step_ns  BIGINT, duration of the window in the scenario
            gain_ns      BIGINT, step_ns - new_step_ns
            gain_frac    DOUBLE, gain_ns / step_ns
            edge_count   BIGINT, edges of the graph whose delay the scenario changes
            method       VARCHAR, rule of the scenario

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.what_if()
        """

    def trace_quality(
        self,
        *,
        only_jobs: Iterable[str] | None = None,
        only_ranks: int | Iterable[int] | None = None,
    ) -> pa.Table:
        """What is wrong with the traces or missing in them, and which results that weakens.

        A row says one thing about one rank, or about a job as a whole (rank is NULL). A job whose traces
        have nothing wrong and nothing missing has no row. With the severity `warning`, numbers of the
        queries in `weakens` can be wrong. With the severity `info`, something is missing, so that these
        queries have less to say, or its share is too small to matter.

            check                         count and share_frac
            incomplete_trace              damaged files of the rank, of all
            quarantined_events            events that could not be read, of all
            clamped_times                 NULL. The first event has the base time of
                                          the trace's clock
            no_gpu_activities             launches, none of which has an activity
            unlinked_kernels              GPU activities without a launch; share of
                                          GPU time
            launches_without_kernel       launches without an activity before the
                                          first or after the last one with an
                                          activity, of all
            dropped_buffers               launches without an activity in between,
                                          of all
            overlap_on_stream             GPU activities that begin before the one
                                          before them on their stream has ended;
                                          share of GPU time that counts twice,
                                          without graphs and launches that may
                                          begin early
            no_gap_on_stream              GPU activities that end where the next on
                                          their stream begins; share of GPU time
            impossible_times              GPU activities that begin before their
                                          launch, end before they begin, or are an
                                          hour from everything on the host, of all
            impossible_numbers            GPU activities with sizes or numbers of ranks that
                                          cannot be, of all
            cut_window                    the first or last step without GPU
                                          activity, of all steps
            work_outside_steps            GPU activities launched outside of steps;
                                          share of GPU time
            graph_kernels                 GPU activities of graph launches; share of
                                          GPU time
            thinned_out                   runtime calls of a trace that has less than one
                                          in 100 of their numbers; of all numbers
            crossing_spans                host spans that cross others, of all
            missing_steps                 NULL. There are no steps
            missing_shapes                operator calls, none of which has shapes
            missing_stacks                NULL. There are no Python functions
            missing_sequence_numbers      operator calls of a trace with a backward
                                          pass, none of which has a sequence number
            missing_collective_arguments  communication kernels without arguments;
                                          share of communication time
            missing_collective_numbers    collectives without Seq and Comms Id, of
                                          all communication kernels
            unpaired_collectives          collectives that another rank of their
                                          group in the archive lacks, of all
            missing_device_name           NULL. The trace does not name its GPU
            unknown_device                NULL. device_peaks does not have the GPU
            missing_world_size            NULL. The number of ranks is not recorded
            unknown_rank                  NULL. The rank follows from the order of
                                          the files
            missing_ranks                 ranks that the archive lacks, of all
            several_clocks                hosts of the job. NULL if traces do not
                                          record the base of their clock, or were
                                          not recorded at the same time

        GPU time and communication time are sums of durations. `text` ends with what to do.

        Args:
            only_jobs (VARCHAR[]): jobs to check [default: all]
            only_ranks (INTEGER[]): ranks to check; rows about a job stay [default: all]

        Returns:
            pyarrow.Table, one row per job, rank, check:
            job         VARCHAR, run of a program
            rank        INTEGER, rank of the process; NULL if the row is about the job
            check       VARCHAR, what was found, as above; in SQL written "check"
            severity    VARCHAR, warning: numbers can be wrong; info: something is missing
            count       BIGINT, number, as above
            share_frac  DOUBLE, share, as above; NULL if there is none
            text        VARCHAR, the same in words, with what to do
            weakens     VARCHAR[], queries whose results it weakens, by name

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.trace_quality()
        """

    compute_critical_path = _compute_critical_path
    materialize = _materialize

class MethodsOfTwo:
    """The base class of comparisons, whose methods are the queries that compare."""

    def annotation_diff(
        self,
    ) -> pa.Table:
        """Count and time of each annotated stage, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A stage is all annotations of one name on the host, made by the program or its libraries: for
        example forward, backward, an optimizer's step or loading of data. All steps are one stage,
        whatever their numbers, such as ProfilerStep. The time of an annotation is its duration on its
        own thread, including the annotations inside it.

        A stage's kernels are all GPU activities launched in the stage, at any depth. These include the
        activities that autograd threads launch while the main thread is in the stage:

            main thread  [ ProfilerStep                     )
                         [ forward )[ backward   )[ optimizer)
            launches        1 2                      5
            autograd                   3  4

            stage         kernels
            forward       1 2
            backward      3 4
            optimizer     5
            ProfilerStep  1 2 3 4 5

        If annotations of one name are nested, each annotation's duration counts, but each GPU activity
        counts once.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        annotations that begin in steps, divided by the number of steps. For example, 10 steps on each of
        4 ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts.

        HTA's TraceDiff.compare_traces lists each step under its own name, such as ProfilerStep#3.

        Returns:
            pyarrow.Table, one row per name:
            name               VARCHAR, name of the annotation
            base_count         BIGINT, how often the stage is entered in the base
            test_count         BIGINT, how often the stage is entered in the test
            diff_count         BIGINT, test_count - base_count
            base_total_ns      BIGINT, sum of the durations in the base
            test_total_ns      BIGINT, sum of the durations in the test
            diff_total_ns      BIGINT, test_total_ns - base_total_ns
            base_mean_ns       BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns       BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns       BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_kernel_count  BIGINT, GPU activities launched in the stage in the base
            test_kernel_count  BIGINT, GPU activities launched in the stage in the test
            diff_kernel_count  BIGINT, test_kernel_count - base_kernel_count
            base_kernel_ns     BIGINT, sum of the durations of these activities in the base
            test_kernel_ns     BIGINT, sum of the durations of these activities in the test
            diff_kernel_ns     BIGINT, test_kernel_ns - base_kernel_ns
            base_per_step_ns   BIGINT, time of annotations in steps of the base, per step and rank
            test_per_step_ns   BIGINT, time of annotations in steps of the test, per step and rank
            diff_per_step_ns   BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac          DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change             VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.annotation_diff()
        """

    def category_diff(
        self,
        *,
        by_kernel: bool | None = False,
        short_names: bool | None = False,
    ) -> pa.Table:
        """Time of each kernel category, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            category     base       test       diff_per_step_ns
            gemm         2 x 30 us  2 x 40 us  20,000
            elementwise  5 x 10 us  -          -50,000
            compiled     -          1 x 15 us  15,000

        In this example, each side has one step on one rank. The base runs five elementwise kernels, for
        10 us each. In the test, one kernel of a compiler does their work.

        category_breakdown explains the categories. Times are sums of durations, so activities that run
        at the same time each count in full.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
        ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts.

        With `by_kernel`, a row is one combination of category and kernel. A kernel can be in several
        categories, since the operator that launches it can decide.

        Args:
            by_kernel (BOOLEAN): one row per category and kernel instead of per category [default: false]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per category, name:
            category          VARCHAR, kernel category, such as gemm
            name              VARCHAR, name of the kernel, copy or memset; NULL without by_kernel
            base_count        BIGINT, calls in the base
            test_count        BIGINT, calls in the test
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum of the durations in the base
            test_total_ns     BIGINT, sum of the durations in the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_frac         DOUBLE, base_total_ns / sum of base_total_ns over all rows; NULL if the sum is 0
            test_frac         DOUBLE, test_total_ns / sum of test_total_ns over all rows; NULL if the sum is 0
            base_per_step_ns  BIGINT, time of activities in steps of the base, per step and rank
            test_per_step_ns  BIGINT, time of activities in steps of the test, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change            VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.category_diff()
        """

    def collective_diff(
        self,
    ) -> pa.Table:
        """Count, time and waiting of collectives and messages, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        The kernel of a collective or message runs while the rank waits for other ranks and while data is
        transferred. If at least two members are in the archive, the query separates waiting from
        transfer, as collective_members does:

            transfer time  = shortest duration of a member
            member's wait  = member's duration - transfer time

        For example, if the members take 30 us and 50 us, the transfer time is 30 us, and the second
        member waits for 20 us. These times do not depend on the clocks of the ranks. In each
        job, the query pairs members over all ranks, even if only some ranks are selected.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the kernels
        launched in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
        40 steps. For a side without steps, these columns are the total time divided by the number of
        ranks. `change` compares only the counts.

        HTA's TraceDiff.compare_traces compares these kernels by their names only.

        Returns:
            pyarrow.Table, one row per name, dtype, bytes, group_size:
            name                   VARCHAR, collective or message, as PyTorch names it
            dtype                  VARCHAR, data type of the elements
            bytes                  BIGINT, size of the rank's input or output, whichever is larger; NULL if the data type or the number of elements is not known
            group_size             BIGINT, ranks in the process group
            base_count             BIGINT, kernels in the base
            test_count             BIGINT, kernels in the test
            diff_count             BIGINT, test_count - base_count
            base_total_ns          BIGINT, sum of the durations in the base, including waits
            test_total_ns          BIGINT, sum of the durations in the test, including waits
            diff_total_ns          BIGINT, test_total_ns - base_total_ns
            base_mean_ns           BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns           BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns           BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_mean_transfer_ns  BIGINT, mean transfer time of the paired kernels in the base; NULL if no kernel is paired
            test_mean_transfer_ns  BIGINT, mean transfer time of the paired kernels in the test; NULL if no kernel is paired
            diff_mean_transfer_ns  BIGINT, test_mean_transfer_ns - base_mean_transfer_ns
            base_wait_ns           BIGINT, sum of the waits of paired kernels in the base; NULL if no kernel is paired
            test_wait_ns           BIGINT, sum of the waits of paired kernels in the test; NULL if no kernel is paired
            diff_wait_ns           BIGINT, test_wait_ns - base_wait_ns
            base_per_step_ns       BIGINT, time of kernels in steps of the base, per step and rank
            test_per_step_ns       BIGINT, time of kernels in steps of the test, per step and rank
            diff_per_step_ns       BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac              DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change                 VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.collective_diff()
        """

    def comparability(
        self,
    ) -> pa.Table:
        """Whether two jobs can be compared, and what weakens the comparison.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            name        condition                                        if it fails
            gpu         both run on the same kind of GPU                 prevents
            world_size  both programs have the same number of ranks      prevents
            activities  both have GPU activities, or both have none      prevents
            steps       both have steps, or both have none               prevents
                        both have three steps or more, to measure noise  weakens
            shapes      both have operators, or both have none           prevents
                        both have recorded shapes, or both have none     weakens
                        operators run on the same shapes                 prevents
            ranks       both have the same number of traced ranks        weakens
            stacks      both have Python stacks, or both have none       weakens
            traces      all traces are complete, without lost events     weakens

        A call of an operator has a match if the other side calls an operator with the same name on the
        same shapes. The operators run on different shapes if, on either side, fewer than half of the
        calls with recorded shapes have a match. If only a few operators run on other shapes, diff_causes
        reports them as causes.

        If a side does not record gpu or world_size, the value is NULL and the effect is none. Recording
        Python stacks slows the host. If steps are selected, only `steps`, `shapes` and `stacks` cover
        just these steps. The other values cover whole traces.

        Returns:
            pyarrow.Table, one row per name:
            name        VARCHAR, property that is compared, as above
            base_value  VARCHAR, value of the base
            test_value  VARCHAR, value of the test
            effect      VARCHAR, none; weakens: read the results with care; prevents: the two sides measure different things
            reason      VARCHAR, reason in words; NULL if the effect is none

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.comparability()
        """

    def diff_causes(
        self,
    ) -> pa.Table:
        """Ranked causes of the time difference between two jobs, beyond noise.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A change that follows from another change is not a cause. For example, if an operator is called
        more often, the operators and kernels inside it also run more often. If shapes change, kernels
        take more or less time. The query reports each cause once, at the place where it begins:

            cause         name        what changes
            calls         operator    how often it runs per call of its caller
            shapes        operator    shapes of the inputs
            kernels       operator    kernels that the operator launches on the
                                      same shapes
            kernel_time   kernel      duration per call, in the same operator on
                                      the same shapes
            transfer      collective  transfer time without waits, of a collective
                                      or message of the same size and group size
            host_time     operator    host time per call, without the operators,
                                      runtime calls and driver calls inside
            data_loading  annotation  time to fetch the next batch, in annotations
                                      with DataLoader in their names

        An operator's caller is the operator around it. If a backward operator has no operator around it,
        its caller is its forward operator. The backward pass of a new operator is therefore part of the
        new operator. Operators are compared if three names are equal: their own, that of the caller, and
        that of the caller's caller. A kernel launched outside operators is compared
        by its own name. If its number of calls changes, `cause` is kernels and `name` is the kernel's
        name. If one side has no recorded shapes, all calls count as calls on the same shapes.

        Calls, shapes and kernels are compared by rates:
          * calls: how often an operator runs per call of its caller. For outermost operators, how often
            it runs per rank.
          * shapes: share of the operator's calls that have these shapes.
          * kernels: how often a kernel runs per call of the operator on the same shapes. For kernels
            outside operators, how often it runs per rank.

        The query computes each rate in each step. If a rate does not vary from step to step on either
        side, any difference between the two sides is a cause. An example is an operator that runs twice
        per call in all steps of the base, and three times in all steps of the test. Otherwise, the
        difference has to exceed the noise of the steps, which is measured as in step_diff. A change of
        `calls` (calls per call of the caller) is a cause only if the calls per step change too.

        The other causes are compared by the duration per call. A duration has to change by at least both
        of these limits:

            cause                    diff_ratio  |diff_per_step_ns|
            kernel_time, transfer    3 %         0.1 % of the base's mean step
            host_time, data_loading  10 %        1 % of the base's mean step

        diff_ratio is the relative change per call. diff_per_step_ns is the change of all calls together,
        per step and rank. For example, if all kernels take 2 % longer on a slower GPU, the query reports
        no cause. If the base has no steps, host_time and data_loading are not reported, and kernel_time
        and transfer have only the limit of 3 %.

        For host_time and data_loading, the change also has to exceed the noise of the steps.

        For kernel_time and transfer, the change also has to exceed the noise of single calls: how much
        the durations of calls vary on each side. In addition, it has to exceed the noise of the steps,
        or to pass this test, which compares a kernel with all kernels, or a transfer with all transfers:

            ratio     duration per call in the test / duration per call in the base
            relative  ratio / median ratio of all kernels, or of all transfers

        For example, if a kernel takes 10 % longer and the median kernel takes 4 % longer, relative is
        1.10 / 1.04 = 1.058. A change passes this test if all three hold:
          * |ratio - 1| exceeds the noise of single calls.
          * |relative - 1| exceeds the noise of single calls.
          * |relative - 1| exceeds the noise of `relative` from step to step. With one step on each side,
            this condition does not apply.

        This test finds a change even if all kernels vary together from step to step.

        The times of a row are GPU time or host time:
          * host_time and data_loading: host time
          * kernels, kernel_time and transfer: GPU time
          * calls and shapes: time of all GPU activities launched in the operator, at any depth; if there
            are none, the operator's host time

        For transfer, a collective is one call, not one call per rank. Its calls and times per step are
        divided by the number of ranks compared, like those of all causes. For example, if 8 ranks take
        part in 16 collectives per step, the row has 16 / 8 = 2 calls per step and rank.

        diff_per_step_ns depends on the cause:

            shapes, kernels  test_per_step_ns - base_per_step_ns
            calls            added calls * mean time per call over both sides
            all others       test_per_step_ns minus the time that the test's calls
                             would take at the base's mean durations

        The added calls are (test rate - base rate) * calls of the caller per step and rank in the test.

        The values of diff_per_step_ns do not add up to the difference of the step times, since GPU
        activities overlap with each other and with work on the host. what_if computes the time that a
        step would save if a kernel or operator were faster.

        Returns:
            pyarrow.Table, one row per cause, name:
            cause             VARCHAR, what changes, as above
            name              VARCHAR, operator, kernel, collective or annotation that changes; for transfer: name, number of elements, data type and group size
            position          BIGINT, 1 for the largest |diff_per_step_ns|
            inside            VARCHAR, callers of the operator, or operators that launch the kernel; only the first three by name if there are more; NULL if there are none
            base_detail       VARCHAR, shapes or kernels that are more frequent in the base; NULL for other causes, or if there are none
            test_detail       VARCHAR, shapes or kernels that are more frequent in the test; NULL for other causes, or if there are none
            base_calls        DOUBLE, calls per step and rank in the base; if cause is kernels: calls of the changed kernels
            test_calls        DOUBLE, calls per step and rank in the test; if cause is kernels: calls of the changed kernels
            time_of           VARCHAR, gpu or host: whether the next three columns are GPU time or host time
            base_per_step_ns  BIGINT, time per step and rank in the base
            test_per_step_ns  BIGINT, time per step and rank in the test
            diff_per_step_ns  BIGINT, time that the cause adds per step and rank, as above
            diff_ratio        DOUBLE, relative change of the duration per call: 0.2 is 20 % longer; NULL for calls, shapes and kernels
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.diff_causes()
        """

    def kernel_diff(
        self,
        *,
        by_shape: bool | None = False,
        short_names: bool | None = False,
    ) -> pa.Table:
        """Count and time of each kernel, copy and memset, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

            kernel   base       test       change     diff_per_step_ns
            gemm     2 x 30 us  2 x 40 us  unchanged  20,000
            relu     1 x 20 us  -          deleted    -20,000
            clone    -          1 x 20 us  added      20,000

        In this example, each side has one step on one rank. The base calls gemm twice, for 30 us each.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the
        activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
        ranks are 40 steps. For a side without steps, these columns are the total time divided by the
        number of ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that
        exceed noise.

        With `by_shape`, a row is one combination of name, grid and block.

        HTA's TraceDiff.compare_traces returns the same values for devices, but cuts durations to whole
        microseconds. HTA also counts synchronisations and annotations that are drawn on streams.

        Args:
            by_shape (BOOLEAN): one row per name, grid and block instead of per name [default: false]
            short_names (BOOLEAN): names without template arguments and parameters [default: false]

        Returns:
            pyarrow.Table, one row per name, grid, block:
            name              VARCHAR, name of the kernel, copy or memset
            grid              BIGINT[], blocks in x, y, z; NULL without by_shape
            block             BIGINT[], threads of a block in x, y, z; NULL without by_shape
            kind              VARCHAR, computation, communication or memory
            base_count        BIGINT, calls in the base
            test_count        BIGINT, calls in the test
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum of the durations in the base
            test_total_ns     BIGINT, sum of the durations in the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_per_step_ns  BIGINT, time of activities in steps of the base, per step and rank
            test_per_step_ns  BIGINT, time of activities in steps of the test, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change            VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.kernel_diff()
        """

    def module_diff(
        self,
    ) -> pa.Table:
        """Host and GPU time of each nn.Module, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        Modules are compared by their place in the model. module_stats explains these places and which
        GPU activities belong to a module. A module's kernel time includes the activities of all modules
        that run in it. Only columns with `self` in their names leave out these inner modules. The row
        without a module has the activities that belong to no module.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the kernel time of
        everything that is selected, inside and outside steps, divided by the number of steps. For
        example, 10 steps on each of 4 ranks are 40 steps. For a side without steps, the kernel time is
        divided by the number of ranks. `change` compares only the number of calls.

        Returns:
            pyarrow.Table, one row per module:
            module                   VARCHAR, the modules around the calls, outermost first, and then the module itself, joined by /; NULL for activities of no module
            base_count               BIGINT, calls in the base
            test_count               BIGINT, calls in the test
            diff_count               BIGINT, test_count - base_count
            base_total_ns            BIGINT, sum of the calls' host durations in the base
            test_total_ns            BIGINT, sum of the calls' host durations in the test
            diff_total_ns            BIGINT, test_total_ns - base_total_ns
            base_mean_ns             BIGINT, mean host duration of a call in the base; NULL if base_count is 0
            test_mean_ns             BIGINT, mean host duration of a call in the test; NULL if test_count is 0
            diff_mean_ns             BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_forward_kernel_ns   BIGINT, sum of the durations of GPU activities launched in the forward pass in the base
            test_forward_kernel_ns   BIGINT, sum of the durations of GPU activities launched in the forward pass in the test
            diff_forward_kernel_ns   BIGINT, test_forward_kernel_ns - base_forward_kernel_ns
            base_backward_kernel_ns  BIGINT, sum of the durations of GPU activities launched in the backward pass in the base
            test_backward_kernel_ns  BIGINT, sum of the durations of GPU activities launched in the backward pass in the test
            diff_backward_kernel_ns  BIGINT, test_backward_kernel_ns - base_backward_kernel_ns
            base_self_kernel_ns      BIGINT, part of base_forward_kernel_ns + base_backward_kernel_ns that belongs to no inner module
            test_self_kernel_ns      BIGINT, part of test_forward_kernel_ns + test_backward_kernel_ns that belongs to no inner module
            diff_self_kernel_ns      BIGINT, test_self_kernel_ns - base_self_kernel_ns
            base_per_step_ns         BIGINT, base_forward_kernel_ns + base_backward_kernel_ns, per step and rank
            test_per_step_ns         BIGINT, test_forward_kernel_ns + test_backward_kernel_ns, per step and rank
            diff_per_step_ns         BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac                DOUBLE, |diff_self_kernel_ns| / sum of |diff_self_kernel_ns| over all rows; NULL if the sum is 0
            change                   VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.module_diff()
        """

    def op_alignment(
        self,
    ) -> pa.Table:
        """Two jobs aligned by operator: which operators are new, gone or changed, and their cost.

        The query aligns a base (before) with a test (after). By default, the base is the first job by
        name, and the test is the last job by name. From each job, the query takes the first step on the
        lowest rank, unless other ranks or steps are selected. If that rank has no steps, the query takes
        its whole trace. If several ranks or steps are selected, operators are listed rank by rank and
        step by step.

            base          test          relation   position
            mm  [8,8]     mm  [8,8]     matched    1
            mul           -             removed    2
            add           add           matched    3
            -             clone         inserted   4
            mm  [8,8]     mm  [8,16]    reshaped   5
            gelu [8,8]    silu [8,8]    renamed    6

        Within a step, operators are listed thread by thread, and in a thread by their start. The thread
        of the ProfilerStep annotation comes first. The other threads follow in the order of their first
        operators.

        The query pairs operators in three passes. Each pass pairs operators that earlier passes left
        over. Pairs never cross: they are in the same order on both sides:

            relation  which operators
            matched   same name and same shapes; as many as possible match: they
                      are a longest common subsequence of the two sides
            reshaped  same name, other shapes, in the same gap between matched
                      operators
            renamed   same shapes, other name, in the same gap between matched or
                      reshaped operators
            removed   left over in the base
            inserted  left over in the test

        If one side has no shapes at all, operators match by name only.

        Operators without recorded shapes count as renamed only if their gap has as many operators in the
        base as in the test. For example, two operators are paired with two, but not with three.

        An operator's kernels are the GPU activities that it launches itself, with no operator in
        between.

        A Python function of hta_sql computes the longest common subsequence, exactly. For 100,000
        operators this takes a few seconds. DuckDB's shell does not have this function and cannot run the
        query.

        Returns:
            pyarrow.Table, one row per position:
            position           BIGINT, place in the merged order of both sides, from 1
            relation           VARCHAR, matched, reshaped, renamed, removed or inserted
            base_name          VARCHAR, operator in the base; NULL if inserted
            test_name          VARCHAR, operator in the test; NULL if removed
            base_dur_ns        BIGINT, host duration in the base
            test_dur_ns        BIGINT, host duration in the test
            diff_dur_ns        BIGINT, test_dur_ns - base_dur_ns; NULL if inserted or removed
            kernel_change      VARCHAR, change of the list of kernels: same, replaced, added or removed; NULL if neither side has kernels
            base_kernels       VARCHAR, short names of the operator's kernels in the base, in order, joined by |
            test_kernels       VARCHAR, short names of the operator's kernels in the test, in order, joined by |
            base_kernel_count  BIGINT, number of these kernels in the base
            test_kernel_count  BIGINT, number of these kernels in the test
            base_kernel_ns     BIGINT, sum of the durations of these kernels in the base
            test_kernel_ns     BIGINT, sum of the durations of these kernels in the test
            diff_kernel_ns     BIGINT, test_kernel_ns - base_kernel_ns, with 0 for a side without the operator
            base_input_dims    VARCHAR, sizes of the operator's inputs in the base, as JSON
            test_input_dims    VARCHAR, sizes of the operator's inputs in the test, as JSON
            base_rank          INTEGER, rank of the operator in the base
            test_rank          INTEGER, rank of the operator in the test
            base_event_id      BIGINT, event_id of the operator in the base
            test_event_id      BIGINT, event_id of the operator in the test

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_alignment()
        """

    def op_diff(
        self,
        *,
        by_shape: bool | None = False,
        only_cats: Iterable[str] | None = None,
    ) -> pa.Table:
        """Count and time of each operator and host call, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        All host calls count: operators, annotations, Python functions, runtime and driver calls. With
        `only_cats := ['cpu_op']`, only operators count. The total time of a call includes the calls
        inside it. Its self time leaves these calls out, so the self times of different rows can be added
        up. An operator's kernels are the GPU activities that it launches itself, with no operator in
        between, as self_kernel_ns in op_stats. Other calls have no kernels. Calls in replays of CUDA
        graphs count, too, if they are known from the capture of the graph. They take no time of the
        host.

        The name of a Python function is without the number of its line, since any change above a
        function moves its line.

        Counts and totals cover everything that is selected. If the sides differ in size, compare the
        columns with `per_step` in their names. They are means per step and rank: the time of the calls
        that begin in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
        40 steps. For a side without steps, these columns are the total time divided by the number of
        ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that exceed
        noise.

        With `by_shape`, a row is one combination of name and shapes of the inputs. If an operator runs
        on other shapes in the test, the result has two rows: `change` is deleted in the row with the old
        shapes, and added in the row with the new shapes. input_dims is NULL if the profiler did not
        record shapes.

        HTA's TraceDiff.compare_traces and ops_diff return the same values for the host, but cut
        durations to whole microseconds.

        Args:
            by_shape (BOOLEAN): one row per name and shapes instead of per name [default: false]
            only_cats (VARCHAR[]): categories of the trace to count, such as cpu_op [default: all]

        Returns:
            pyarrow.Table, one row per name, input_dims:
            name                    VARCHAR, name of the operator or call
            input_dims              VARCHAR, sizes of the inputs, as JSON; NULL without by_shape
            cat                     VARCHAR, category in the trace; if there are several, the first by name
            base_count              BIGINT, calls in the base
            test_count              BIGINT, calls in the test
            diff_count              BIGINT, test_count - base_count
            base_total_ns           BIGINT, sum of the durations in the base
            test_total_ns           BIGINT, sum of the durations in the test
            diff_total_ns           BIGINT, test_total_ns - base_total_ns
            base_mean_ns            BIGINT, mean duration in the base; NULL if base_count is 0
            test_mean_ns            BIGINT, mean duration in the test; NULL if test_count is 0
            diff_mean_ns            BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_self_ns            BIGINT, self time: sum of the durations in the base, without the calls inside
            test_self_ns            BIGINT, self time: sum of the durations in the test, without the calls inside
            diff_self_ns            BIGINT, test_self_ns - base_self_ns
            base_self_kernel_count  BIGINT, GPU activities that the operator launches itself in the base
            test_self_kernel_count  BIGINT, GPU activities that the operator launches itself in the test
            diff_self_kernel_count  BIGINT, test_self_kernel_count - base_self_kernel_count
            base_self_kernel_ns     BIGINT, sum of the durations of these activities in the base
            test_self_kernel_ns     BIGINT, sum of the durations of these activities in the test
            diff_self_kernel_ns     BIGINT, test_self_kernel_ns - base_self_kernel_ns
            base_per_step_ns        BIGINT, time of calls in steps of the base, per step and rank
            test_per_step_ns        BIGINT, time of calls in steps of the test, per step and rank
            diff_per_step_ns        BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac               DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows; NULL if the sum is 0
            change                  VARCHAR, change of the count: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.op_diff()
        """

    def step_diff(
        self,
    ) -> pa.Table:
        """Step time and its parts, compared between two jobs and tested against noise.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A row is one metric of a step. Rows are in this order:

            step_time              duration of the step on the host
            gpu_span               from the first activity's start to the last
                                   activity's end
            gpu_busy               time with at least one activity
            idle                   time in gpu_span without any activity
            compute                time with computation
            exposed_communication  time with communication but no computation
            exposed_memory         time with copies or memsets and nothing else
            communication          time with communication
            memory                 time with copies or memsets
            kernel_sum             sum of the activities' durations

            gpu_span = idle + compute + exposed_communication + exposed_memory

        All metrics except step_time cover the activities launched in the step, as in step_breakdown, and
        are summed over a rank's devices. The value of a metric in one step is the mean over the ranks. A
        metric that is always 0 has no row.

        If a side has no steps, each metric has one value on that side, which covers the whole trace.
        step_time has no value on that side.

        Yuen's test (1974) decides whether the steps of the two sides differ. It compares the difference
        of the two trimmed means with the scatter of the steps. A trimmed mean leaves out a fifth of the
        values at each end, rounded down.

        The interval from diff_low_ns to diff_high_ns contains the true difference in at least 995 of
        1,000 cases. This holds if the noise from run to run is no larger than the noise from step to
        step. `regressions` uses the noise from run to run. With three steps on each side, a difference
        is significant if it is at least seven times the standard deviation of a step. With one step on
        each side, the noise is not known, and the interval is NULL.

        Returns:
            pyarrow.Table, one row per name:
            name            VARCHAR, metric, as above
            base_count      BIGINT, steps of the base in which the metric has a value
            test_count      BIGINT, steps of the test in which the metric has a value
            diff_count      BIGINT, test_count - base_count
            base_total_ns   BIGINT, sum of the values over the steps of the base
            test_total_ns   BIGINT, sum of the values over the steps of the test
            diff_total_ns   BIGINT, test_total_ns - base_total_ns
            base_mean_ns    BIGINT, trimmed mean over the steps of the base; NULL if base_count is 0
            test_mean_ns    BIGINT, trimmed mean over the steps of the test; NULL if test_count is 0
            diff_mean_ns    BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            diff_low_ns     BIGINT, lower end of the interval of diff_mean_ns; NULL if the noise is not known
            diff_high_ns    BIGINT, upper end of the interval of diff_mean_ns; NULL if the noise is not known
            diff_ratio      DOUBLE, diff_mean_ns / base_mean_ns: 0.03 is 3 % more
            base_median_ns  BIGINT, median over the steps of the base
            test_median_ns  BIGINT, median over the steps of the test
            base_mad_ns     BIGINT, median absolute deviation of the steps of the base from their median
            test_mad_ns     BIGINT, median absolute deviation of the steps of the test from their median
            is_significant  BOOLEAN, whether the interval excludes 0; NULL if the noise is not known
            change          VARCHAR, added or deleted if only one side has values; increased or decreased if significant; else unchanged; NULL if the noise is not known and the means differ

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.step_diff()
        """

    def temporal_diff(
        self,
    ) -> pa.Table:
        """Idle, compute and exposed time of devices, compared between two jobs.

        The query compares two sides: the base (before) and the test (after). A side is a job, or some
        ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
        by name, and the test is the last job by name.

        A row is one metric, summed over devices. temporal_breakdown explains the metrics:

            span                   from the first activity's start to the last
                                   activity's end
            busy                   time with at least one activity
            idle                   time in the span without any activity
            compute                time with computation
            non_compute            busy time without computation
            exposed_communication  time with communication but no computation
            exposed_memory         time with copies or memsets and nothing else
            communication          time with communication, exposed or hidden
            memory                 time with copies or memsets, exposed or hidden

            span = idle + compute + exposed_communication + exposed_memory
            non_compute = exposed_communication + exposed_memory

        Totals cover everything that is selected, inside and outside steps. Columns with `per_step` in
        their names are means per step and rank: the totals, divided by the number of steps. For example,
        10 steps on each of 4 ranks are 40 steps. For a side without steps, the totals are divided by the
        number of ranks. `change` compares the totals.

        Returns:
            pyarrow.Table, one row per name:
            name              VARCHAR, metric, as above
            base_count        BIGINT, devices with activities in the base, over all ranks
            test_count        BIGINT, devices with activities in the test, over all ranks
            diff_count        BIGINT, test_count - base_count
            base_total_ns     BIGINT, sum over the devices of the base
            test_total_ns     BIGINT, sum over the devices of the test
            diff_total_ns     BIGINT, test_total_ns - base_total_ns
            base_mean_ns      BIGINT, mean per device of the base; NULL if base_count is 0
            test_mean_ns      BIGINT, mean per device of the test; NULL if test_count is 0
            diff_mean_ns      BIGINT, test_mean_ns - base_mean_ns; NULL if either is NULL
            base_frac         DOUBLE, base_total_ns of this metric / base_total_ns of `span`
            test_frac         DOUBLE, test_total_ns of this metric / test_total_ns of `span`
            base_per_step_ns  BIGINT, base_total_ns, per step and rank
            test_per_step_ns  BIGINT, test_total_ns, per step and rank
            diff_per_step_ns  BIGINT, test_per_step_ns - base_per_step_ns
            diff_frac         DOUBLE, |diff_per_step_ns| / sum of |diff_per_step_ns| over the four metrics that add up to span; NULL for other metrics, or if the sum is 0
            change            VARCHAR, change of the total: added, deleted, increased, decreased, unchanged

        Raises:
            BadParameter: A parameter is unknown, missing or of another type.

        Examples:
            >>> run.temporal_diff()
        """

