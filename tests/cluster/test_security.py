"""A scheduler with TLS: whoever has its certificate is let in, and nobody else."""

import shutil
import subprocess

import pytest

import chainrule as cr
from chainrule.cluster.client import connect
from chainrule.cluster.stream import run_tasks
from cluster import tasks
from cluster.dask_processes import dask_processes

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")


def make_certificate(folder, name):
    """The files of a certificate that is its own authority, and of its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run(
        ["openssl", "req", "-x509", *curve, *files, "-days", "2", "-subj", f"/CN={name}"],
        check=True,
        capture_output=True,
    )
    return str(certificate), str(key)


def security(authority, certificate, key):
    return distributed.Security(
        tls_ca_file=authority, tls_client_cert=certificate, tls_client_key=key, require_encryption=True
    )


@pytest.mark.slow
def test_a_scheduler_with_tls_takes_its_own_certificate_and_no_other(tmp_path):
    import dask

    certificate, key = make_certificate(tmp_path, "ours")
    other_certificate, other_key = make_certificate(tmp_path, "other")
    with dask_processes(tmp_path) as processes:
        files = ("--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key)
        _, address = processes.scheduler("--protocol", "tls", *files)
        processes.worker(address, *files)
        with connect(address, security=security(certificate, certificate, key)) as client:
            assert [outcome.value for outcome in run_tasks(tasks.square, range(4), client)] == [0, 1, 4, 9]
        settings = {"ca-file": certificate, "client.cert": certificate, "client.key": key}
        with (
            dask.config.set({f"distributed.comm.tls.{name}": file for name, file in settings.items()}),
            connect(address) as client,
        ):
            assert client.scheduler.address == address
        for wrong in (
            None,
            security(certificate, other_certificate, other_key),
            security(other_certificate, certificate, key),
        ):
            with (
                pytest.raises(cr.ClusterError, match=r"no cluster answers at 'tls:.*certificates that its scheduler"),
                connect(address, security=wrong),
            ):
                pass
        with (
            pytest.raises(cr.ClusterError, match="a scheduler with TLS begins with tls://"),
            connect(address.replace("tls:", "tcp:")),
        ):
            pass
