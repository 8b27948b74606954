//! State of a run as measurements read it, with any kind of hosts.

use lightburst_net::{Dropped, Fabric, Hosts, Network, NodeId, Switch};
use lightburst_tcp::{DatagramHosts, MixedHosts, Outcomes, TcpHosts};

/// Hosts that report the outcomes of their flows.
pub trait MeasuredHosts: Hosts {
    /// Returns the outcomes of all flows.
    fn outcomes(self, dropped: &Dropped) -> Outcomes;

    /// Returns the useful bytes received so far.
    fn delivered(&self) -> u64;

    /// Returns the hosts with connections; `None` if there are only datagrams.
    fn connections(&self) -> Option<&TcpHosts>;

    /// Returns the hosts with connections for modification.
    fn connections_mut(&mut self) -> Option<&mut TcpHosts>;
}

impl MeasuredHosts for TcpHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        TcpHosts::outcomes(self, dropped)
    }

    fn delivered(&self) -> u64 {
        TcpHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        Some(self)
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        Some(self)
    }
}

impl MeasuredHosts for MixedHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        MixedHosts::outcomes(self, dropped)
    }

    fn delivered(&self) -> u64 {
        MixedHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        Some(MixedHosts::connections(self))
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        Some(MixedHosts::connections_mut(self))
    }
}

impl MeasuredHosts for DatagramHosts {
    fn outcomes(self, dropped: &Dropped) -> Outcomes {
        let mut outcomes = Outcomes::new(dropped.flows());
        self.tell(dropped, &mut outcomes);
        outcomes
    }

    fn delivered(&self) -> u64 {
        DatagramHosts::delivered(self)
    }

    fn connections(&self) -> Option<&TcpHosts> {
        None
    }

    fn connections_mut(&mut self) -> Option<&mut TcpHosts> {
        None
    }
}

/// Network and hosts of a run in progress.
pub trait State {
    /// Returns links, units and routing.
    fn fabric(&self) -> &Fabric;

    /// Iterates over the switches with their node numbers.
    fn switches(&self) -> Box<dyn Iterator<Item = (NodeId, &dyn Switch)> + '_>;

    /// Starts a measurement window: maxima count from now on.
    fn begin_window(&mut self);

    /// Returns the useful bytes received so far.
    fn delivered(&self) -> u64;

    /// Returns the hosts with connections; `None` if there are only datagrams.
    fn connections(&mut self) -> Option<&mut TcpHosts>;
}

impl<H: MeasuredHosts> State for Network<H> {
    fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    fn switches(&self) -> Box<dyn Iterator<Item = (NodeId, &dyn Switch)> + '_> {
        Box::new(Network::switches(self))
    }

    fn begin_window(&mut self) {
        Network::begin_window(self);
    }

    fn delivered(&self) -> u64 {
        self.hosts.delivered()
    }

    fn connections(&mut self) -> Option<&mut TcpHosts> {
        self.hosts.connections_mut()
    }
}
