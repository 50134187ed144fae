"""The parts that all servers share: access, checks of bodies, and limits of connections."""
