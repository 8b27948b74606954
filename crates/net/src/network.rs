//! Network of hosts and switches on one fabric, as a model for the simulation engine.

use crate::routing::protection::Arrival;
use crate::unit::arena::prefetch;
use crate::{
    link::fifo, link::outages::Down, Ahead, Context, Event, EventKind, Fabric, FlowId, Hosts,
    LinkId, NodeId, PortId, Sendable, Switch, TimerId, Unit,
};
use lightburst_des::{Agenda, Model, Time};

/// A network. Nodes `0..host_count` are hosts, the others switches.
pub struct Network<H> {
    /// Links, units and routing.
    pub fabric: Fabric,
    /// All hosts.
    pub hosts: H,
    sites: Vec<Site>,
    host_count: u32,
}

/// A switch, with the data that each of its events needs first.
struct Site {
    /// Link at port 0.
    first_link: LinkId,
    switch: Box<dyn Switch>,
}

impl<H: Hosts> Network<H> {
    /// Creates a network of `host_count` hosts and the given switches.
    pub fn new(fabric: Fabric, hosts: H, switches: Vec<Box<dyn Switch>>, host_count: u32) -> Self {
        let site = |(node, switch)| Site {
            first_link: fabric.link_id(NodeId(node), PortId(0)),
            switch,
        };
        Network {
            sites: (host_count..).zip(switches).map(site).collect(),
            fabric,
            hosts,
            host_count,
        }
    }

    /// Iterates over the switches with their node numbers.
    pub fn switches(&self) -> impl Iterator<Item = (NodeId, &dyn Switch)> {
        let switches = self.sites.iter().map(|site| &*site.switch);
        (self.host_count..).map(NodeId).zip(switches)
    }

    /// Starts a measurement window: maxima count from now on.
    pub fn begin_window(&mut self) {
        for site in &mut self.sites {
            site.switch.begin_window();
        }
    }

    /// Handles the arrival of a unit over a link.
    #[inline(always)]
    fn arrive(
        &mut self,
        it: impl Sendable,
        (link, to): (LinkId, NodeId),
        agenda: &mut Agenda<Event>,
    ) {
        fifo::arrived(it, (link, to), &self.fabric.units, agenda);
        let site = to.0.wrapping_sub(self.host_count) as usize;
        if let Some(Site { first_link, switch }) = self.sites.get_mut(site) {
            let mut copy = None;
            if self.fabric.protection.is_some() {
                match self.fabric.protect(it.into(), link, to, agenda.now()) {
                    Arrival::Goes => {}
                    Arrival::Twice(other) => copy = Some(other),
                    Arrival::Ends => return,
                }
            }
            let mut ctx = Context::new(to, *first_link, link, &mut self.fabric, agenda);
            switch.on_unit(it.into(), &mut ctx);
            if let Some(copy) = copy {
                switch.on_unit(copy.into(), &mut ctx);
            }
        } else {
            let nic = self.fabric.link_id(to, PortId(0));
            let mut ctx = Context::new(to, nic, link, &mut self.fabric, agenda);
            let Unit::Packet(packet) = it.into() else {
                unreachable!("bursts end at an edge");
            };
            self.hosts.on_packet(packet, &mut ctx);
        }
    }

    /// Sends the next segment of a fair interface, whose link is free now, or lets the link pause.
    // Inlined it would slow the events of networks without fair interfaces.
    #[inline(never)]
    fn depart(
        &mut self,
        timer_id: TimerId,
        (node, nic): (NodeId, LinkId),
        agenda: &mut Agenda<Event>,
    ) {
        let ctx = &mut Context::new(node, nic, LinkId::NONE, &mut self.fabric, agenda);
        if timer_id != TimerId::DEPARTURE && !ctx.pause_interface(timer_id) {
            return;
        }
        ctx.depart(|departure, ctx| self.hosts.on_departure(departure, ctx));
    }

    /// Returns a switch with its first link; `None` for a host.
    #[inline]
    fn site(&self, node: NodeId) -> Option<&Site> {
        self.sites
            .get(node.0.wrapping_sub(self.host_count) as usize)
    }

    /// Asks for memory that an arrival will need.
    #[inline(always)]
    fn prepare_arrival(&self, (unit, to): (Unit, NodeId), time: Time, stage: usize) {
        let fabric = &self.fabric;
        if stage == 0 {
            fabric.units.prefetch(unit);
            match self.site(to) {
                Some(site) => prefetch(site),
                None => fabric.prefetch_first_link(to),
            }
        } else if let Some(Site { first_link, switch }) = self.site(to) {
            let ahead = Ahead::new(to, *first_link, time, fabric);
            ahead.at_switch(&**switch, Some(unit), stage);
        } else if let Unit::Packet(packet) = unit {
            if stage == 1 {
                fabric.links.prefetch(fabric.link_id(to, PortId(0)));
            }
            self.hosts
                .prepare_packet(&fabric.units.packets[packet], stage - 1);
        }
    }

    /// Asks for memory that the expiry of a timer will need.
    #[inline(always)]
    fn prepare_timer(&self, (node, timer_id): (NodeId, TimerId), time: Time, stage: usize) {
        match (self.site(node), stage) {
            (Some(site), 0) => prefetch(site),
            (Some(Site { first_link, switch }), _) => {
                let ahead = Ahead::new(node, *first_link, time, &self.fabric);
                ahead.at_switch(&**switch, None, stage);
            }
            (None, _) => self.hosts.prepare_timer(timer_id, stage),
        }
    }

    /// Changes the routes to those of the links that are known to be up now.
    pub fn change_routes(&mut self, agenda: &mut Agenda<Event>) {
        let Fabric { links, outages, .. } = &mut self.fabric;
        let outages = outages.as_mut().expect("outages");
        let reroute = outages.reroute;
        let (routing, mut downs) = outages.change(agenda.now(), links);
        self.at_each_switch(agenda, |switch, ctx| switch.before_change(ctx));
        self.fabric.routing = routing;
        self.at_each_switch(agenda, |switch, ctx| switch.after_change(reroute, ctx));
        downs.retain(|down| down.from.0 >= self.host_count);
        // All queues are empty before the first unit takes another way.
        for Down { link, from, units } in &mut downs {
            self.at_output(*from, *link, agenda, |switch, port, ctx| {
                units.append(&mut switch.on_down(port, ctx));
            });
        }
        for Down { link, from, units } in downs {
            self.at_output(from, link, agenda, |switch, port, ctx| {
                for unit in units {
                    switch.on_stranded(unit, port, reroute, ctx);
                }
            });
        }
    }

    /// Lets each switch act, in the order of the nodes.
    fn at_each_switch(
        &mut self,
        agenda: &mut Agenda<Event>,
        act: impl Fn(&mut dyn Switch, &mut Context<'_>),
    ) {
        for (node, Site { first_link, switch }) in (self.host_count..).zip(&mut self.sites) {
            let (node, none, fabric) = (NodeId(node), LinkId::NONE, &mut self.fabric);
            let ctx = &mut Context::new(node, *first_link, none, fabric, agenda);
            act(&mut **switch, ctx);
        }
    }

    /// Lets a switch act at the output to one of its links.
    fn at_output(
        &mut self,
        from: NodeId,
        link: LinkId,
        agenda: &mut Agenda<Event>,
        act: impl FnOnce(&mut dyn Switch, PortId, &mut Context<'_>),
    ) {
        let Site { first_link, switch } = &mut self.sites[(from.0 - self.host_count) as usize];
        let port = PortId((link.0 - first_link.0) as u16);
        let ctx = &mut Context::new(from, *first_link, LinkId::NONE, &mut self.fabric, agenda);
        act(&mut **switch, port, ctx);
    }

    /// Lets the hosts set their first timer.
    pub fn start(&mut self, agenda: &mut Agenda<Event>) {
        let host = NodeId(0);
        let first_link = self.fabric.link_id(host, PortId(0));
        let fabric = &mut self.fabric;
        self.hosts.start(&mut Context::new(
            host,
            first_link,
            LinkId::NONE,
            fabric,
            agenda,
        ));
    }
}

impl<H: Hosts> Model for Network<H> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, event: Event, agenda: &mut Agenda<Event>) {
        // The look-up of the site is repeated in both arms: a common one before the match makes the
        // run 1 % to 2 % slower.
        match event.unpack() {
            EventKind::Arrival { to, link, unit } => {
                // One call per kind, so that the callee is compiled for each kind of unit.
                match unit {
                    Unit::Packet(it) => self.arrive(it, (link, to), agenda),
                    Unit::Burst(it) => self.arrive(it, (link, to), agenda),
                    Unit::BurstHeader(it) => self.arrive(it, (link, to), agenda),
                }
            }
            EventKind::Timer { node, timer_id } => {
                let site = node.0.wrapping_sub(self.host_count) as usize;
                if let Some(Site { first_link, switch }) = self.sites.get_mut(site) {
                    let mut ctx =
                        Context::new(node, *first_link, LinkId::NONE, &mut self.fabric, agenda);
                    if timer_id.kind == TimerId::ENTRY {
                        let packet = self.hosts.on_entry(FlowId(timer_id.subject), &mut ctx);
                        return switch.on_entry(packet, &mut ctx);
                    }
                    switch.on_timer(timer_id, &mut ctx);
                    while let Some(packet) = ctx.ended() {
                        self.hosts.on_packet(packet, &mut ctx);
                    }
                } else {
                    let nic = self.fabric.link_id(node, PortId(0));
                    if timer_id == TimerId::DEPARTURE || timer_id.kind >= TimerId::PAUSE {
                        return self.depart(timer_id, (node, nic), agenda);
                    }
                    let mut ctx = Context::new(node, nic, LinkId::NONE, &mut self.fabric, agenda);
                    self.hosts.on_timer(timer_id, &mut ctx);
                }
            }
        }
    }

    #[inline]
    fn prepare(&self, event: Event, time: Time, stage: usize) {
        match event.unpack() {
            EventKind::Arrival { to, unit, .. } => self.prepare_arrival((unit, to), time, stage),
            EventKind::Timer { node, timer_id } => {
                self.prepare_timer((node, timer_id), time, stage);
            }
        }
    }
}
