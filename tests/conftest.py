"""What every test may rely on, however the test run was started."""

import contextlib
import signal

from hypothesis import HealthCheck, settings

# A shell starts what it runs in the background with SIGINT ignored, and children inherit that. With a handler of our
# own in place they do not, so Ctrl-C can be tested there too. (Only the main thread may set one.)
with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How fast this machine is just now says nothing about the code.
settings.register_profile("any-speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-speed")
