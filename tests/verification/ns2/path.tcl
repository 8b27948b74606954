# One TCP flow of ns-2 over a line of five links, sender to receiver, with scripted losses.
#
#   ns path.tcl [name value] ...        names and defaults: the array `of` below
#
# Prints one line for each segment that the sender sends, for each acknowledgement that it receives
# and for each expiry of its retransmission timer:
#   time_s,event,seq,cwnd,ssthresh      event: send, ack, timeout
# Times count from the first data segment; segments from 0, without the SYN; the `seq` of an ack is
# the next segment expected. cwnd and ssthresh (segments) are those after the event.
# With `print throughput` only one line: segments delivered a second.
array set of {
    agent Reno       access 10Gb     fibre 10Gb     delay 10ms       window 50
    initial 2        segments 300    seconds 60     minrto 0.2       tick 0.01
    bugfix 1         limited 0       impatient 1    deflation 1      precision 1
    syn 1            seed 1          drop {}        acks {}          probability 0
    print events
}
# drop: segments lost, `40 41` or `40-44`, each with `*k` if its k-th transmission is meant (1).
# acks: acknowledgements lost, by their number from 1 (that of the SYN does not count).
foreach {name value} $argv {
    if {![info exists of($name)]} { puts stderr "no parameter $name: [lsort [array names of]]"; exit 2 }
    set of($name) $value
}

proc script {text} {
    set wanted [dict create]
    foreach word $text {
        lassign [split $word *] range transmission
        lassign [split $range -] first last
        if {$last eq ""} { set last $first }
        if {$transmission eq ""} { set transmission 1 }
        for {set i $first} {$i <= $last} {incr i} { dict set wanted $i,$transmission 1 }
    }
    return $wanted
}

# A trace of ns-2 is written to a Tcl channel. This makes a channel whose every line calls `handler`
# at once, in the middle of the event that is traced.
proc channel {handler} {
    set made [chan create write [list relay $handler]]
    fconfigure $made -buffering none -encoding binary
    return $made
}
proc relay {handler command id args} {
    switch $command {
        initialize { return {initialize finalize watch write} }
        write {
            foreach line [split [string trim [lindex $args 0]] \n] { $handler $line }
            return [string length [lindex $args 0]]
        }
    }
}

# Rows: an ack or a timeout is written when all it causes is done, that is at the next event of a
# later time; `state` holds the windows as they were after the last change.
set rows {}
set open -1
set opened -1
set state {0 0}
proc settle {} {
    global rows open opened state ns
    if {$open >= 0 && [$ns now] > $opened} { lset rows $open 3 $state; set open -1 }
}
proc begin {event seq} {
    global rows open opened state ns
    settle
    if {$open >= 0} { lset rows $open 3 $state }
    set open [llength $rows]
    set opened [$ns now]
    lappend rows [list $opened $event $seq $state]
}
proc windows {} {
    global tcp state
    set state [list [$tcp set cwnd_] [$tcp set ssthresh_]]
}
proc changed {line} {
    global tcp of
    lassign $line - - - - - variable value
    if {$variable eq "nrexmit_" && $value > 0} { begin timeout [expr {[$tcp set ack_] + 1 - $of(syn)}] }
    settle
    windows
}
proc leaves {line} {
    global rows of ns started
    lassign $line what - - - type - - - - - seq
    if {$type ne "tcp"} return
    incr seq -$of(syn)
    if {$what eq "+" && $seq >= 0} {
        if {![info exists started]} { set started [$ns now] }
        settle
        windows
        lappend rows [list [$ns now] send $seq $::state]
    }
}
proc arrives {line} {
    global of
    lassign $line what - - - type - - - - - seq
    if {$what eq "r" && $type eq "ack" && $seq >= $of(syn)} { begin ack [expr {$seq + 1 - $of(syn)}] }
}
proc lose_data {line} {
    global of data transmissions em
    lassign $line what - - - type - - - - - seq
    if {$what ne "+" || $type ne "tcp"} return
    incr seq -$of(syn)
    $em(data) set rate_ [dict exists $data $seq,[incr transmissions($seq)]]
}
proc lose_ack {line} {
    global of acks acked em
    lassign $line what - - - type - - - - - seq
    if {$what ne "+" || $type ne "ack" || $seq < $of(syn)} return
    $em(ack) set rate_ [dict exists $acks [incr acked],1]
}
proc finish {} {
    global rows of started tcp ns open state
    if {$of(print) eq "throughput"} {
        puts [format %.4f [expr {([$tcp set ack_] + 1 - $of(syn)) / double($of(seconds))}]]
        exit 0
    }
    if {$open >= 0} { lset rows $open 3 $state }
    puts "time_s,event,seq,cwnd,ssthresh"
    foreach row $rows {
        lassign $row time event seq window
        puts "[format %.6f [expr {$time - $started}]],$event,$seq,[join $window ,]"
    }
    exit 0
}

remove-all-packet-headers
add-packet-header IP TCP Common Flags
set ns [new Simulator]
ns-random $of(seed)
set data [script $of(drop)]
set acks [script $of(acks)]

set nodes 6
for {set i 0} {$i < $nodes} {incr i} { set n($i) [$ns node] }
for {set i 0} {$i < $nodes - 1} {incr i} {
    set rate [expr {$i == 0 || $i == $nodes - 2 ? $of(access) : $of(fibre)}]
    $ns duplex-link $n($i) $n([expr {$i + 1}]) $rate $of(delay) DropTail
    $ns queue-limit $n($i) $n([expr {$i + 1}]) 1000000
    $ns queue-limit $n([expr {$i + 1}]) $n($i) 1000000
}

# Losses: on the first link between two inner nodes, at the entrance of its queue. The trace of what
# enters the queue is put before it (below), so that `lose_data` and `lose_ack` decide in time.
foreach {direction from to} [list data $n(1) $n(2) ack $n(4) $n(3)] {
    set em($direction) [new ErrorModel]
    $em($direction) unit pkt
    $em($direction) ranvar [new RandomVariable/Uniform]
    $em($direction) set rate_ 0
    $ns lossmodel $em($direction) $from $to
}

Agent/TCP set packetSize_ 1000
Agent/TCP set useHeaders_ false
Agent/TCP set window_ $of(window)
Agent/TCP set windowInit_ $of(initial)
Agent/TCP set syn_ $of(syn)
Agent/TCP set delay_growth_ $of(syn)
Agent/TCP set minrto_ $of(minrto)
Agent/TCP set tcpTick_ $of(tick)
Agent/TCP set bugFix_ $of(bugfix)
Agent/TCP set singledup_ $of(limited)
Agent/TCP set precisionReduce_ $of(precision)
Agent/TCP/Newreno set newreno_changes1_ $of(impatient)
Agent/TCP/Newreno set partial_window_deflation_ $of(deflation)
set tcp [expr {$of(agent) eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$of(agent)]}]
set sink [expr {$of(agent) eq "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
$ns attach-agent $n(0) $tcp
$ns attach-agent $n([expr {$nodes - 1}]) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

if {$of(print) eq "throughput"} {
    $em(data) set rate_ $of(probability)
    $ns at 0.0 "$ftp start"
} else {
    $tcp attach [channel changed]
    foreach variable {cwnd_ ssthresh_ nrexmit_} { $tcp trace $variable }
    $ns trace-queue $n(0) $n(1) [channel leaves]
    $ns trace-queue $n(1) $n(0) [channel arrives]
    $ns trace-queue $n(1) $n(2) [channel lose_data]
    $ns trace-queue $n(4) $n(3) [channel lose_ack]
    $ns at 0.0 "$ftp send [expr {$of(segments) * 1000}]"
    $tcp proc done {} { global ns; $ns at [expr {[$ns now] + 1}] finish }
}
$ns at $of(seconds) finish
$ns run
